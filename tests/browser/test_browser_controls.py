"""What a reader does on a page: sort, filter, change the theme, copy, hover, and all of it by keyboard."""

import pytest
from browsing import drawn_plot, focused, theme_of

NUMBERS = "#number-table"
VALUES = f"{NUMBERS} tbody tr:visible td:nth-child(4)"


def figure(visits, report, **options):
    return visits.open(report / "artefacts" / "figure.html", **options)


def values(page):
    return [
        float(value)
        for value in page.locator(VALUES).evaluate_all(
            "all => all.map(cell => cell.dataset.value)"
        )
    ]


def test_sorting(visits, report):
    page = figure(visits, report)
    original = values(page)
    header = page.locator(f"{NUMBERS} th", has_text="Ours")
    assert len(original) == 48
    assert header.get_attribute("aria-sort") == "none"
    for state, expected in (
        ("ascending", sorted(original)),
        ("descending", sorted(original, reverse=True)),
        ("none", original),
    ):
        header.locator("button").click()
        assert header.get_attribute("aria-sort") == state
        assert values(page) == expected
    page.locator(f"{NUMBERS} th", has_text="Row").locator("button").click()
    assert header.get_attribute("aria-sort") == "none"
    rows = page.locator(f"{NUMBERS} tbody th").all_inner_texts()
    assert rows == sorted(rows)


def test_features_are_sorted_by_any_method(visits, report):
    page = figure(visits, report)
    table = page.locator("table.features").first
    for method, column in (("Random", 2), ("Lvg", 1)):
        button = table.locator("th", has_text=method).locator("button")
        button.click()
        button.click()  # descending
        shares = [
            float(text.split()[0])
            for text in table.locator(
                f"tbody td:nth-of-type({column})"
            ).all_inner_texts()
        ]
        assert len(shares) > 10
        assert shares == sorted(shares, reverse=True)


def test_filters(visits, report):
    page = figure(visits, report)
    bar = page.locator("section", has=page.locator(NUMBERS)).locator(".filters")
    count = bar.locator("output")
    rows = page.locator(f"{NUMBERS} tbody tr:visible")
    assert rows.count() == 48
    assert count.inner_text() == "48 numbers"
    assert count.get_attribute("aria-live") == "polite"
    bar.get_by_label("Data set").select_option("set 3")
    assert rows.count() == 6
    assert count.inner_text() == "6 of 48 numbers"
    assert set(rows.locator("td:nth-child(3)").all_inner_texts()) == {"set 3"}
    bar.get_by_label("Search").fill("lvg")
    assert rows.count() == 2
    assert count.inner_text() == "2 of 48 numbers"
    bar.get_by_label("Search").fill("nothing has this")
    assert rows.count() == 0
    assert count.inner_text() == "0 of 48 numbers"
    bar.get_by_label("Search").fill("")
    bar.get_by_label("Data set").select_option("all")
    assert rows.count() == 48


def test_filter_by_verdict(visits, report):
    page = visits.open(report / "claims" / "index.html")
    page.locator(".filters").get_by_label("Verdict").select_option("contradicted")
    assert page.locator(
        "#claim-table tbody tr:visible td:first-child"
    ).all_inner_texts() == ["contradicted"]
    assert page.locator(".filters output").inner_text() == "1 of 3 claims"


def test_filters_of_universes_apply_to_the_curve_below_them(visits, report):
    page = visits.open(report / "claims" / "seen2020.lvg.html")
    section = page.locator("section", has=page.locator("#readings"))
    bar = section.locator(".filters")
    curve = section.locator("figure.drawing")
    table = section.locator("[data-draws]")
    top = [part.bounding_box()["y"] for part in (bar, curve, table)]
    assert top == sorted(top)
    marks = section.locator("svg.curve [data-row]")
    faint = section.locator("svg.curve [data-row][hidden]")
    assert marks.count() == 4
    assert faint.count() == 0
    bar.get_by_label("Verdict").select_option("replicated")
    shown = table.locator("tbody tr:visible").count()
    assert 0 < shown == 4 - faint.count() < 4
    assert set(table.locator("tbody tr:visible th").all_inner_texts()) == {"replicated"}
    bar.locator("select").nth(2).select_option("2")  # of the place C
    assert 4 - faint.count() == table.locator("tbody tr:visible").count() < shown
    page.emulate_media(media="print")
    assert curve.is_visible()
    assert not table.is_visible()
    assert section.get_by_text("readings/seen2020/universes.csv").is_visible()


def test_the_theme_is_changed_and_remembered(visits, report):
    page = visits.open(report / "index.html", color_scheme="light")
    light = theme_of(page)
    button = page.locator("button.theme")
    button.click()
    dark = theme_of(page)
    assert dark != light
    assert button.get_attribute("aria-pressed") == "true"
    page.reload()
    assert theme_of(page) == dark
    page.get_by_role("link", name="figure", exact=True).click()
    page.wait_for_url("**/artefacts/figure.html")
    assert theme_of(page) == dark
    page.locator("button.theme").click()
    assert theme_of(page) == light


def tab_until(page, wanted, most=80):
    """Press Tab until what has the focus is wanted; everything on the way shows that it has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        element = focused(page)
        assert element["outline"] != "none", element
        assert element["width"] >= 2, element
        if wanted(element):
            return element
    raise AssertionError(f"not reached within {most} times Tab")


def test_the_keyboard_is_enough(visits, report):
    page = figure(visits, report)
    box = page.locator("a.skip").bounding_box()
    assert box["x"] + box["width"] <= 0  # out of sight until it has the focus
    page.keyboard.press("Tab")
    assert focused(page)["text"] == "Skip to the content"
    assert page.locator("a.skip").bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    assert focused(page)["id"] == "main"
    # The first stops behind it are in the content, not in the head: why the table
    # differs, and the tables.
    tab_until(page, lambda element: element["href"] == "#tables", most=2)
    page.locator(f"{NUMBERS} th button").first.focus()
    tab_until(page, lambda element: element["text"] == "Ours (sd)")
    page.keyboard.press("Enter")
    assert values(page) == sorted(values(page))
    page.keyboard.press("Space")
    assert values(page) == sorted(values(page), reverse=True)
    link = tab_until(page, lambda element: "trace/" in element["href"])
    page.keyboard.press("Enter")
    page.wait_for_url("**/trace/figure/**")
    assert link["href"].split("/")[-1] in page.url


def test_plots(visits, report):
    """A plot says the value under the pointer, follows the theme and the data set, and leads to the trace."""
    page = figure(visits, report, color_scheme="light")
    plot = drawn_plot(page)
    assert plot.locator(".xtick text").all_text_contents() == ["10", "30"]
    points = plot.locator(".scatterlayer .points path")
    colour = "getComputedStyle(document.querySelector('.plot .xtick text')).fill"
    light = page.evaluate(colour)

    def middle():
        place = points.first.bounding_box()
        return place["x"] + place["width"] / 2, place["y"] + place["height"] / 2

    page.mouse.move(*middle())
    plot.locator(".hoverlayer .hovertext").wait_for()
    assert "10: " in plot.locator(".hoverlayer .hovertext").text_content()
    page.locator("button.theme").click()
    page.wait_for_function(f"{colour} !== {light!r}")
    drawn = "[...document.querySelectorAll('.plot .scatterlayer .points path')]"
    heights = f"{drawn}.map(each => each.getAttribute('transform')).join()"
    before = page.evaluate(heights)
    drawn_plot(page).get_by_label("Data set").select_option("set 3")
    page.wait_for_function(f"before => {heights} !== before", arg=before)
    page.reload()
    drawn_plot(page)
    page.mouse.click(*middle())
    page.wait_for_url("**/trace/figure/lvg-10-**")


@pytest.mark.parametrize("refused", [False, True])
def test_copying_a_command(visits, report, refused):
    page = visits.open(
        report / "index.html", permissions=["clipboard-read", "clipboard-write"]
    )
    if refused:  # the way for browsers that do not let pages on disk write to it
        page.evaluate(
            "() => { navigator.clipboard.writeText = () => Promise.reject(new Error('refused')); }"
        )
    command = page.locator(".command", has_text="provsel reproduce absent").first
    command.locator("button.copy").click()
    command.locator("button", has_text="Copied").wait_for()
    assert page.locator("[role=status]", has_text="Command copied").count() == 1
    assert (
        page.evaluate("navigator.clipboard.readText()")
        == command.locator("code").inner_text()
    )
