"""A kernel that finds where tokens of two tokenizers end together; for :mod:`bpe.ids.pairing`."""

from structures.kernels import pointer_to, quiet


@quiet
def find_common_ends(a_lengths, b_lengths, a_cuts, b_cuts, places):
    """Write the places where tokens of two rows end together, and how many of each end up to there.

    The rows are of the same text. Tokens without bytes end where the one before them does. Neither the start
    of the text nor its end is written. Returns how many places there are.
    """
    length_of_a, length_of_b = pointer_to(a_lengths, 0), pointer_to(b_lengths, 0)
    n = i = j = a_end = b_end = 0
    while i < a_lengths.size and j < b_lengths.size:
        if a_end == b_end:
            if length_of_a[i] == 0 or length_of_b[j] == 0:
                i += length_of_a[i] == 0
                j += length_of_b[j] == 0
                continue
            if a_end > 0:
                a_cuts[n], b_cuts[n], places[n] = i, j, a_end
                n += 1
        a_is_next, b_is_next = a_end <= b_end, b_end <= a_end
        if a_is_next:
            a_end += length_of_a[i]
            i += 1
        if b_is_next:
            b_end += length_of_b[j]
            j += 1
    return n
