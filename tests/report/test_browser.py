"""The page in a real browser: it draws, says nothing on the console, asks for nothing; hover, sort and keys work."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from provisioner.report import answer
from provisioner.report.html import page
from tests.report.examples import COMMAND, GRID, INPUTS, PLAN, figures

pytest.importorskip("vl_convert", reason="pages are written with the extra [report]")
sync_api = pytest.importorskip("playwright.sync_api", reason="a browser is driven with the extra [browser]")
CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
if CHROMIUM is None:
    pytest.skip("no Chromium on this machine", allow_module_level=True)


READY = "html[data-ready=yes]"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        # As root, as in most containers, Chromium runs only without its sandbox; the page is our own.
        flags = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield running
        running.close()


@pytest.fixture(scope="module")
def opened(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, list[str]]:
    """The page once everything is drawn, and what went wrong on the way."""
    file = tmp_path_factory.mktemp("page") / "report.html"
    told = answer.of_plan(PLAN, INPUTS, {"minimize": "cost", "target_rps": 70.0})
    file.write_text(page(told, list(figures().values()), answer.to_csv(GRID), COMMAND), encoding="utf-8")
    tab = browser.new_page(viewport={"width": 1100, "height": 900})
    complaints: list[str] = []
    tab.on("console", lambda message: complaints.append(f"console: {message.text}"))
    tab.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    tab.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
    tab.on("request", lambda request: complaints.append(request.url) if request.url != file.as_uri() else None)
    tab.goto(file.as_uri())
    tab.wait_for_selector(READY, timeout=60_000)
    return tab, complaints


def test_everything_is_drawn_and_nothing_is_asked_for(opened: tuple[Any, list[str]]) -> None:
    tab, complaints = opened
    assert tab.locator(".chart svg").count() == len(figures())
    assert complaints == []


def test_a_heading_sorts_its_column_both_ways(opened: tuple[Any, list[str]]) -> None:
    tab, _ = opened
    heading = tab.get_by_role("button", name="machines", exact=True)
    column = heading.evaluate("button => button.closest('th').cellIndex")

    def shown() -> list[int]:
        cells = tab.locator(f"table.sortable tbody tr td:nth-child({column + 1})").all_inner_texts()
        return [int(text) for text in cells]

    heading.click()
    assert shown() == sorted(shown())
    assert heading.evaluate("button => button.closest('th').ariaSort") == "ascending"
    heading.press("Enter")
    assert shown() == sorted(shown(), reverse=True)
    assert heading.evaluate("button => button.closest('th').ariaSort") == "descending"


def test_hovering_over_a_cell_shows_its_cluster(opened: tuple[Any, list[str]]) -> None:
    tab, _ = opened
    tab.locator("#chart-1 [aria-label^='8P+6T']").hover()
    tooltip = tab.locator("#vg-tooltip-element")
    tooltip.wait_for(state="visible")
    text = tooltip.inner_text()
    assert "8P+6T" in text
    assert "TTFT P50" in text


def test_the_map_shows_another_limit_when_it_is_chosen(opened: tuple[Any, list[str]]) -> None:
    tab, complaints = opened
    cell = tab.locator("#chart-1 [aria-label^='1P+6T']")
    before = cell.get_attribute("fill")
    tab.locator("#chart-1 select").select_option("TTFT P99 ≤ 6×")
    tab.wait_for_function("([mark, fill]) => mark.getAttribute('fill') !== fill", arg=[cell.element_handle(), before])
    assert complaints == []


def test_arrow_keys_go_from_mark_to_mark_and_are_read_out(opened: tuple[Any, list[str]]) -> None:
    tab, _ = opened
    tab.locator("#chart-1").focus()
    readout = tab.locator("figure:has(#chart-1) output")
    said = []
    for key in ("ArrowRight", "ArrowRight", "ArrowUp"):
        tab.keyboard.press(key)
        said.append(readout.inner_text().split()[0])
    assert said == ["1P+1T", "2P+1T", "2P+2T"]


def test_dark_and_light_are_a_button_away(opened: tuple[Any, list[str]]) -> None:
    tab, _ = opened
    paper = "() => getComputedStyle(document.body).backgroundColor"
    light = tab.evaluate(paper)
    tab.locator("#theme").click()
    dark = tab.evaluate(paper)
    assert (light, dark) == ("rgb(255, 255, 255)", "rgb(22, 24, 27)")
    ink = tab.locator("#chart-1 svg text").first.evaluate("text => getComputedStyle(text).fill")
    assert ink == "rgb(236, 236, 234)"
    tab.locator("#theme").click()


def test_it_prints_light_and_without_controls(opened: tuple[Any, list[str]]) -> None:
    tab, _ = opened
    tab.emulate_media(media="print")
    assert not tab.locator("#theme").is_visible()
    assert tab.pdf().startswith(b"%PDF")
    tab.emulate_media(media="screen")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_barrier_is_found(opened: tuple[Any, list[str]], scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core comes with the extra [browser]")
    tab, _ = opened
    tab.emulate_media(color_scheme=scheme)
    tab.wait_for_function(f"() => document.documentElement.dataset.theme === '{scheme}'")
    found = axe.Axe().run(tab).response["violations"]
    assert [(each["impact"], each["id"], each["nodes"][0]["html"][:120]) for each in found] == []


def test_a_narrow_window_does_not_scroll_sideways(opened: tuple[Any, list[str]]) -> None:
    tab, _ = opened
    tab.set_viewport_size({"width": 360, "height": 700})
    assert tab.evaluate("() => document.documentElement.scrollWidth") <= 360
    tab.set_viewport_size({"width": 1100, "height": 900})


def test_the_page_says_its_answer_without_scripts(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    told = answer.of_plan(PLAN, INPUTS, {"minimize": "cost"})
    file.write_text(page(told, [], answer.to_csv(GRID), COMMAND), encoding="utf-8")
    tab = browser.new_context(java_script_enabled=False).new_page()
    tab.goto(file.as_uri())
    assert "optimal" in tab.inner_text("body")
    assert tab.locator("table").count() == 2
