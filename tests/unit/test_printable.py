"""What a stranger writes cannot command a terminal, forge a line, or call a channel."""

import json

from jobs.authoring.text import in_chat, in_json, in_one_line, printable

EVIL = "\x1b]0;pwned\x07\x1b[2J[red]x\x9b31m\u202etxt.exe"


def test_commands_are_shown():
    assert printable(EVIL) == r"\x1b]0;pwned\x07\x1b[2J[red]x\x9b31m\u202etxt.exe"


def test_other_text_is_left_alone():
    text = "müsli 🥣 👩‍🚀 日本\tنص\nsecond"
    assert printable(text) == text
    assert in_one_line("a\nb") == r"a\nb"


def test_a_document_means_the_same():
    document = json.dumps({"a": EVIL}, ensure_ascii=False)
    shown = in_json(document)
    assert json.loads(shown) == {"a": EVIL}
    assert not set(shown) & set("\x1b\x9b\x07\u202e")


def test_nobody_is_called():
    assert in_chat("<!channel> <http://evil|here> @all & co") == (
        "&lt;!channel&gt; &lt;http://evil|here&gt; @\u200ball &amp; co"
    )
