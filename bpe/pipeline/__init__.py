"""What a tokenizer does to text around its merges: normalizer, pre-tokenizer, post-processor, decoder."""
