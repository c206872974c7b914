"""From text to ids and back: the engine of a tokenizer, and what is built on it."""
