"""``structures.testing`` says what it requires."""


def test_without_hypothesis(python):
    python(
        "import sys; sys.modules['hypothesis'] = None\n"
        "import structures\n"
        "try:\n"
        "    import structures.testing\n"
        "except ImportError as error:\n"
        "    assert 'bpe-structures[testing]' in str(error), error\n"
        "else:\n"
        "    raise AssertionError('hypothesis was not needed')"
    )
