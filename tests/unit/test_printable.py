"""What a stranger writes cannot command a terminal, forge a line, or call a channel."""

import json

from plumbing.text import in_chat, in_json, in_one_line, printable

EVIL = "\x1b]0;pwned\x07\x1b[2J[red]x\x9b31m\u202etxt.exe\u061c"


def test_commands_are_shown():
    assert printable(EVIL) == r"\x1b]0;pwned\x07\x1b[2J[red]x\x9b31m\u202etxt.exe\u061c"


def test_other_text_is_left_alone():
    text = "müsli 🥣 👩‍🚀 日本\tنص\nsecond"
    assert printable(text) == text
    assert in_one_line("a\nb") == r"a\nb"


def test_marks_that_pile_up_over_other_lines_are_shown_beside_their_letter():
    assert printable("e" + "\u0301" * 200) == "e" + "\u0301" * 6 + r"\u0301" * 194
    assert printable("\u0e01" + "\u0e47" * 7) == "\u0e01" + "\u0e47" * 6 + r"\u0e47"
    spoken = "Vie\u0323\u0302t \u05d1\u05b0\u05bc\u05e8\u05b5\u05d0\u05e9\u05c1\u05b4\u0596\u05d9\u05ea \u2764\ufe0f"
    assert printable(spoken) == spoken


def test_a_document_means_the_same():
    document = json.dumps({"a": EVIL}, ensure_ascii=False)
    shown = in_json(document)
    assert json.loads(shown) == {"a": EVIL}
    assert not set(shown) & set("\x1b\x9b\x07\u202e")


def test_a_mention_in_a_chat_calls_no_user():
    assert in_chat("<!channel> <http://evil|here> @all & co") == (
        "&lt;!channel&gt; &lt;http://evil|here&gt; @\u200ball &amp; co"
    )
