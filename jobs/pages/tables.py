"""Tables and facts of the pages. The name of a column and the content of its cells stand in one place.

    {% table workers as worker worked kind="rows" row="worker" key=worker.id none="No worker is registered." %}
      {% column "Worker" "head name" %}{{ worker.name }}{% endcolumn %}
      {% if perms.jobs.view_job %}{% column "Ended" "number" label="Jobs" %}{{ worked.ended }}{% endcolumn %}{% endif %}
    {% endtable %}

The template between the columns is rendered once for the head, where there is no row yet, and again for each row. On a
narrow screen a row is a card, in which each cell shows its label. A cell without a value shows a dash. A card has no
such cells, nor those with a zero.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from django.template import Context, Node, NodeList, TemplateSyntaxError
from django.template.base import FilterExpression, Parser, Token, token_kwargs
from django.utils.html import format_html, strip_tags
from django.utils.safestring import SafeString

NAMES_ROW, UNSEEN = "head", "unseen"  # words of a column; other words are CSS classes of its cells
NOTHING = "–"  # in a cell without a value
LEFT_OUT = {"": "none", NOTHING: "none", "0": "zero"}  # CSS classes, by what a cell contains
Options = Mapping[str, FilterExpression]


class Table(Node):
    """The tag `table`.

    names: the variable of a row, or of each of its parts.
    kind: CSS classes.
    row, key: the two parts of a row's id.
    none: the text if there is no row.
    """

    def __init__(self, rows: FilterExpression, names: list[str], options: Options, nodelist: NodeList) -> None:
        self.rows, self.names, self.options, self.nodelist = rows, names, options, nodelist

    def render(self, context: Context) -> SafeString:
        rows = list(self.rows.resolve(context) or ())
        if not rows:
            none = _option(self, context, "none")
            return format_html('<p class="empty">{}</p>', none) if none else SafeString()
        with context.push(of_head=True):
            head = self.nodelist.render(context)
        shape = '<table class="{}"><thead><tr>{}</tr></thead><tbody>{}</tbody></table>'
        kind = f"cards {_option(self, context, 'kind')}".rstrip()
        return format_html(shape, kind, head, SafeString("".join(self._row(context, row) for row in rows)))

    def _row(self, context: Context, row: Any) -> SafeString:
        parts = dict(zip(self.names, row, strict=True)) if len(self.names) > 1 else {self.names[0]: row}
        with context.push(of_head=False, **parts):
            cells, name = self.nodelist.render(context), _option(self, context, "row")
            anchor = format_html(' id="{}-{}"', name, _option(self, context, "key")) if name else ""
        return SafeString(f"<tr{anchor}>{cells}</tr>")


class Column(Node):
    """The tag `column`.

    label: the name of its cells, if it is not the title.
    hint: the text that the pointer shows over a cell.
    """

    def __init__(self, title: FilterExpression, kind: str, options: Options, nodelist: NodeList) -> None:
        self.title, self.options, self.nodelist = title, options, nodelist
        words = kind.split()
        self.names_row, self.unseen = NAMES_ROW in words, UNSEEN in words
        self.classes = " ".join(word for word in words if word not in (NAMES_ROW, UNSEEN))

    def render(self, context: Context) -> SafeString:
        title = self.title.resolve(context)
        if context["of_head"]:
            shown = format_html('<span class="unseen">{}</span>', title) if self.unseen else title
            return format_html('<th scope="col"{}>{}</th>', _attribute("class", self.classes), shown)
        cell = self.nodelist.render(context).strip() or ("" if self.unseen else NOTHING)
        label = "" if self.unseen or self.names_row else _option(self, context, "label") or title
        hint = _attribute("title", _option(self, context, "hint"))
        opened = _opened(label, f"{self.classes} {LEFT_OUT.get(cell, '')}".strip(), self.names_row)
        return SafeString(f"{opened}{hint}>{cell}</{'th' if self.names_row else 'td'}>")


@cache  # of the few columns of all pages; a list has hundreds of cells
def _opened(label: str, classes: str, names_row: bool) -> str:
    kind = _attribute("class", classes)
    return f'<th scope="row"{kind}' if names_row else f"<td{_attribute('data-label', strip_tags(label))}{kind}"


def fact(content: str, name: str, kind: str = "", bad: object = False) -> SafeString:
    """An entry of a `<dl>`: `{% fact "Ran" %}{{ seconds|span }}{% endfact %}`; nothing where there is no value."""
    if (value := SafeString(content.strip())) in ("", NOTHING):
        return SafeString()
    shape = "<div{}><dt>{}</dt><dd{}>{}</dd></div>"
    return format_html(shape, _attribute("class", "bad" if bad else ""), name, _attribute("class", kind), value)


def _option(node: Table | Column, context: Context, name: str) -> Any:
    return node.options[name].resolve(context) if name in node.options else ""


def _attribute(name: str, value: str) -> SafeString:
    return format_html(' {}="{}"', name, value) if value else SafeString()


def table(parser: Parser, token: Token) -> Table:
    """`{% table rows as row kind="dense" none="There is none." %} … {% endtable %}`"""
    _, rows, word, *bits = token.split_contents()
    if word != "as":
        raise TemplateSyntaxError(f"{token.contents}: must be like: table rows as row")
    names = [bits.pop(0) for bit in bits[:] if "=" not in bit]
    options = token_kwargs(bits, parser)
    columns = parser.parse(("endtable",))
    parser.delete_first_token()
    return Table(parser.compile_filter(rows), names, options, columns)


def column(parser: Parser, token: Token) -> Column:
    """`{% column "Failed" "number" %}{{ row.failed }}{% endcolumn %}`"""
    _, title, *bits = token.split_contents()
    kind = bits.pop(0).strip("\"'") if bits and "=" not in bits[0] else ""
    options = token_kwargs(bits, parser)
    cell = parser.parse(("endcolumn",))
    parser.delete_first_token()
    return Column(parser.compile_filter(title), kind, options, cell)
