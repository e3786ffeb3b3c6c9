"""The tables of the pages: a column says its title, its cells and what they are called in one place."""

import pytest
from django.template import Context, Template, TemplateSyntaxError

ROWS = [("mail", 3), ("<b>", None)]


def rendered(columns, rows=ROWS, options="", **context):
    text = f"{{% load jobs_ops %}}{{% table rows as name jobs {options} %}}{columns}{{% endtable %}}"
    return Template(text).render(Context({"rows": rows, **context}))


def test_the_title_of_a_column_is_the_label_of_its_cells_which_has_no_tags():
    table = rendered('{% column "Waited {p95}"|terms "number wide" %}{{ jobs|n }}{% endcolumn %}')
    assert '<th scope="col" class="number wide">Waited <abbr title="' in table
    assert '<td data-label="Waited p95" class="number wide">3</td>' in table


def test_a_label_of_its_own_and_a_hint_are_escaped():
    table = rendered('{% column "All that fit" label="Fit" hint=name %}{{ name }}{% endcolumn %}')
    assert '<td data-label="Fit" title="&lt;b&gt;">&lt;b&gt;</td>' in table


def test_a_cell_without_a_value_or_with_a_zero_is_marked_so_that_a_card_leaves_it_out():
    table = rendered('{% column "Jobs" "number" %} {{ jobs|n }} {% endcolumn %}', [*ROWS, ("last", 0)])
    assert '<td data-label="Jobs" class="number zero">0</td>' in table
    assert '<td data-label="Jobs" class="number none">–</td>' in table
    assert '<td data-label="Jobs" class="number">3</td>' in table


def test_an_empty_cell_shows_a_dash_but_for_one_that_readers_alone_are_told_of():
    table = rendered('{% column "Note" %} {% if jobs %}x{% endif %} {% endcolumn %}')
    assert '<td data-label="Note" class="none">–</td>' in table
    assert '<td class="none"></td>' in rendered('{% column "Do" "unseen" %} {% endcolumn %}')


def test_the_cell_that_names_its_row_is_a_heading_and_one_for_readers_alone_has_no_label():
    table = rendered('{% column "Queue" "head" %}{{ name }}{% endcolumn %}{% column "Do" "unseen" %}x{% endcolumn %}')
    assert '<tr><th scope="row">mail</th><td>x</td></tr>' in table
    assert '<th scope="col"><span class="unseen">Do</span></th>' in table


@pytest.mark.parametrize("may", [True, False])
def test_a_column_that_is_left_out_is_left_out_of_the_head_as_well(may):
    table = rendered("{% if may %}{% column 'Change' %}x{% endcolumn %}{% endif %}", may=may)
    assert (table.count("<th scope"), table.count("<td")) == ((1, 2) if may else (0, 0))


def test_a_row_has_an_id_where_it_is_asked_for():
    assert '<tr id="queue-mail">' in rendered("", options='row="queue" key=name')
    assert "<tr></tr>" in rendered("")


def test_without_rows_there_is_no_table_but_what_is_said_instead():
    assert rendered("{% column 'Queue' %}x{% endcolumn %}", rows=[], options="none=why", why="None <b>.") == (
        '<p class="empty">None &lt;b&gt;.</p>'
    )
    assert not rendered("{% column 'Queue' %}x{% endcolumn %}", rows=[])


def test_a_table_that_names_no_row_is_refused():
    with pytest.raises(TemplateSyntaxError, match="must be like: table rows as row"):
        Template("{% load jobs_ops %}{% table rows of row %}{% endtable %}")


@pytest.mark.parametrize("value", ["", " – "])
def test_a_fact_without_a_value_is_left_out(value):
    fact = Template('{% load jobs_ops %}{% fact "Ran" "name" bad=bad %}{{ value }}{% endfact %}')
    assert not fact.render(Context({"value": value}))
    told = fact.render(Context({"value": "<3 s", "bad": 2}))
    assert told == '<div class="bad"><dt>Ran</dt><dd class="name">&lt;3 s</dd></div>'
