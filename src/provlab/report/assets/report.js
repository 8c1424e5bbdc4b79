// Adds sorting, filters, copy buttons, themes and plots to the pages, which are readable without it.
"use strict";
(() => {
  const root = document.documentElement;
  const darkSystem = window.matchMedia("(prefers-color-scheme: dark)");

  function element(name, attributes = {}, text = "") {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = text;
    return made;
  }

  const status = element("div", { role: "status", "aria-live": "polite", class: "visually-hidden" });
  document.body.append(status);

  // ---- Theme

  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : darkSystem.matches);

  function setUpTheme() {
    const button = document.querySelector("button.theme");
    const show = () => {
      button.setAttribute("aria-pressed", String(isDark()));
      redraw();
    };
    button.hidden = false;
    show();
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      try {
        localStorage.setItem("provsel-theme", root.dataset.theme);
      } catch (refused) {
        // Files on disk may have no storage; the choice then applies only to this page.
      }
      show();
    });
    darkSystem.addEventListener("change", show);
  }

  // ---- Copying commands

  async function copy(code) {
    const text = code.textContent;
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch (refused) {
      const selection = window.getSelection();
      selection.selectAllChildren(code);
      return document.execCommand("copy");
    }
  }

  function setUpCommands() {
    for (const command of document.querySelectorAll(".command")) {
      const code = command.querySelector("code");
      const button = element("button", { type: "button", class: "copy" }, "Copy");
      button.append(element("span", { class: "visually-hidden" }, `: ${code.textContent}`));
      button.addEventListener("click", async () => {
        const done = await copy(code);
        button.firstChild.data = done ? "Copied" : "Selected";
        status.textContent = done ? "Command copied" : "Command selected: copy it with the keyboard";
        setTimeout(() => { button.firstChild.data = "Copy"; }, 2000);
      });
      command.append(button);
    }
  }

  // ---- Folded sections

  function openTarget() {
    const target = document.getElementById(decodeURIComponent(window.location.hash.slice(1)));
    if (!(target instanceof HTMLDetailsElement)) return;
    target.open = true;
    target.scrollIntoView();
  }

  // ---- Wide tables

  function setUpScrolling(region) {
    const hint = element("p", { class: "scroll-hint" }, "Scroll the table sideways to see all columns →");
    region.before(hint);
    const show = () => { hint.hidden = region.scrollWidth <= region.clientWidth; };
    new ResizeObserver(show).observe(region);
    show();
  }

  // ---- Sorting

  const EMPTY = new Set(["", "–"]);

  function sortKey(row, index) {
    const cell = row.cells[index];
    if (!cell) return null;
    if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
    const text = cell.textContent.trim();
    if (EMPTY.has(text)) return null;
    const plain = text.replace(/,/g, "").replace("\u2212", "-");
    return plain !== "" && Number.isFinite(Number(plain)) ? Number(plain) : text;
  }

  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  function compare(a, b) {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a === typeof b) return collator.compare(a, b);
    return typeof a === "number" ? -1 : 1;
  }

  function setUpSorting(table) {
    const body = table.tBodies[0];
    const original = [...body.rows];
    const headers = [...table.tHead.rows[0].cells];
    headers.forEach((header, index) => {
      if ("unsorted" in header.dataset) return;
      const button = element("button", { type: "button" });
      button.append(...header.childNodes);
      header.replaceChildren(button);
      header.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const next = { none: "ascending", ascending: "descending", descending: "none" }[header.getAttribute("aria-sort")];
        headers.forEach((other) => other.hasAttribute("aria-sort") && other.setAttribute("aria-sort", "none"));
        header.setAttribute("aria-sort", next);
        if (next === "none") {
          body.append(...original);
        } else {
          const sign = next === "ascending" ? 1 : -1;
          const keyed = original.map((row) => [sortKey(row, index), row]);
          // Empty cells come last in both directions; equal cells keep the original order.
          keyed.sort(([a], [b]) => (a === null || b === null ? (a === null) - (b === null) : sign * compare(a, b)));
          body.append(...keyed.map(([, row]) => row));
        }
        const order = next === "none" ? "in the original order" : `sorted by ${button.textContent.trim()}, ${next}`;
        status.textContent = `Table ${order}`;
      });
    });
  }

  // ---- Filtering

  function setUpFilters(table) {
    const rows = [...table.tBodies[0].rows];
    if (rows.length < 2) return;
    const what = table.dataset.search;
    const texts = rows.map((row) => row.textContent.toLowerCase());
    const bar = element("div", { class: "filters", role: "group", "aria-label": `Filter ${what}` });
    const drawing = table.dataset.draws ? document.querySelector(`svg.${table.dataset.draws}`) : null;
    const marks = new Map([...(drawing?.querySelectorAll("[data-row]") ?? [])].map((mark) => [Number(mark.dataset.row), mark]));

    const search = element("input", { type: "search", autocomplete: "off", spellcheck: "false" });
    const searchLabel = element("label", {}, "Search");
    searchLabel.append(search);
    bar.append(searchLabel);

    const choices = [];
    [...table.tHead.rows[0].cells].forEach((header, index) => {
      if (!("filter" in header.dataset)) return;
      const values = rows.map((row) => row.cells[index].textContent.trim());
      const distinct = [...new Set(values)].sort(collator.compare);
      if (distinct.length < 2) return;
      const label = element("label", {}, header.textContent.trim());
      const select = element("select");
      select.append(new Option("all", "all"));
      distinct.forEach((value, k) => select.append(new Option(value || "(none)", String(k))));
      // A column may state which of its values is shown first.
      const first = header.dataset.filter;
      if (first && distinct.includes(first)) select.value = String(distinct.indexOf(first));
      label.append(select);
      bar.append(label);
      choices.push({ select, values, distinct });
    });

    const count = element("output", { role: "status", "aria-live": "polite" });
    bar.append(count);

    function apply() {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      rows.forEach((row, k) => {
        const matches = words.every((word) => texts[k].includes(word))
          && choices.every(({ select, values, distinct }) => select.value === "all" || values[k] === distinct[Number(select.value)]);
        row.hidden = !matches;
        marks.get(k)?.toggleAttribute("hidden", !matches);
        shown += matches;
      });
      count.textContent = shown === rows.length ? `${rows.length} ${what}` : `${shown} of ${rows.length} ${what}`;
    }

    search.addEventListener("input", apply);
    choices.forEach(({ select }) => select.addEventListener("change", apply));
    apply();
    (drawing?.closest("figure") ?? table.closest(".scroll")).before(bar);
  }

  // ---- Plots

  let redraw = () => {};

  function themed(layout) {
    const style = getComputedStyle(root);
    const colour = (name) => style.getPropertyValue(name).trim();
    const axis = {
      gridcolor: colour("--line"), linecolor: colour("--strong-line"), zerolinecolor: colour("--strong-line"),
      tickcolor: colour("--strong-line"), ticks: "outside", showline: true, automargin: true,
    };
    return {
      ...layout,
      autosize: true,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: colour("--text") },
      margin: { l: 60, r: 20, t: 16, b: 50 },
      legend: { orientation: "h", yanchor: "bottom", y: 1.02, x: 0 },
      hoverlabel: { bgcolor: colour("--panel"), bordercolor: colour("--strong-line"), font: { color: colour("--text") } },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--soft"), activecolor: colour("--text") },
      xaxis: { ...axis, ...layout.xaxis },
      yaxis: { ...axis, ...layout.yaxis },
    };
  }

  // On a dark page the palette's black becomes the text colour, and its two blues are swapped, because the first is used most.
  const DARK = { "#000000": "#e4e8ee", "#0072B2": "#56B4E9", "#56B4E9": "#0072B2" };
  const visible = (key, value) => (isDark() && typeof value === "string" && Object.hasOwn(DARK, value) ? DARK[value] : value);

  const CONFIG = {
    responsive: true, displaylogo: false, displayModeBar: "hover", showSendToCloud: false, plotlyServerURL: "",
    showLink: false, modeBarButtonsToRemove: ["select2d", "lasso2d", "toImage"],
  };

  function setUpPlot(holder) {
    const spec = JSON.parse(document.getElementById(holder.dataset.plot).textContent);
    const area = element("div", { class: "plot-area" });
    let view = spec.views[0];

    function draw() {
      // A copy each time, because the library modifies its input.
      const [data, layout] = JSON.parse(JSON.stringify([view.data, themed(view.layout)]), visible);
      return window.Plotly.react(area, data, layout, CONFIG);
    }

    const selects = spec.selects.map((text, part) => {
      const label = element("label", { class: "plot-choice" }, text);
      const select = element("select");
      for (const key of new Set(spec.views.map((each) => each.keys[part]))) select.append(new Option(key, key));
      select.addEventListener("change", () => {
        const wanted = (each) => each.keys.every((key, k) => key === selects[k].value);
        // Not every combination exists: the last choice is kept, and the others are adjusted.
        view = spec.views.find(wanted) || spec.views.find((each) => each.keys[part] === select.value);
        view.keys.forEach((key, k) => { selects[k].value = key; });
        draw();
      });
      label.append(select);
      if (select.options.length > 1) holder.append(label);
      return select;
    });
    holder.append(area);
    holder.hidden = false;
    draw().then(() => {
      area.on("plotly_click", (event) => {
        const href = event.points[0].customdata;
        if (href) window.location.href = `../${href}`;
      });
    });
    redraw = draw;
  }

  function setUpPlots() {
    const holder = document.querySelector("[data-plot]");
    if (!holder || !window.Plotly) return;
    try {
      setUpPlot(holder);
    } catch (problem) {
      holder.hidden = true;
      console.warn("The plot could not be drawn; the table has its numbers.", problem);
    }
  }

  setUpTheme();
  setUpCommands();
  document.querySelectorAll("table[data-search]").forEach(setUpFilters);
  document.querySelectorAll("table[data-sort]").forEach(setUpSorting);
  setUpPlots();
  document.querySelectorAll(".scroll").forEach(setUpScrolling);
  openTarget();
  window.addEventListener("hashchange", openTarget);
})();
