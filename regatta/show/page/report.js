// Tabs, selectors, sorting and charts. Without it the page shows every table, and no chart.
(() => {
  "use strict";
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const specs = JSON.parse(document.getElementById("charts").textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const views = new Map();

  const shownDesigns = () => all(".design-toggle:checked").map((box) => box.value);

  const config = () => {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const font = "system-ui, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif";
    return {
      background: "transparent",
      font,
      view: { stroke: null },
      axis: {
        labelColor: colour("--soft"), titleColor: colour("--soft"), gridColor: colour("--line"),
        domainColor: colour("--line"), tickColor: colour("--line"), labelFontSize: 11.5,
        titleFontSize: 11.5, titleFontWeight: "normal", labelFont: font, titleFont: font, tickCount: 5,
      },
      axisX: { grid: false },
      axisY: { domain: false, ticks: false, labelPadding: 6 },
      text: { color: colour("--ink"), fontSize: 12 },
      rule: { color: colour("--line") },
    };
  };

  // Charts of claims have no `shown` signal: they always show all their designs.
  const show = (element, view) =>
    specs[element.dataset.chart].params && view.signal("shown", shownDesigns()).runAsync();

  // A chart is drawn when its panel is first seen: a hidden element has no width.
  const draw = async (element) => {
    const id = element.dataset.chart;
    if (views.has(element) || element.offsetParent === null || !specs[id]) return;
    if (element.closest("details:not([open])")) return;
    views.set(element, null);
    const result = await vegaEmbed(element, specs[id], {
      renderer: "svg", config: config(), tooltip: { theme: "custom" }, downloadFileName: id,
      actions: { export: true, source: false, compiled: false, editor: false },
    });
    views.set(element, result.view);
    await show(element, result.view);
  };
  const drawAll = () => Promise.all(all(".chart").map(draw));

  const redraw = () => {
    for (const [element, view] of views) {
      if (view) view.finalize();
      element.replaceChildren();
    }
    views.clear();
    return drawAll();
  };

  const choose = (tab) => {
    for (const other of all('[role="tab"]', tab.parentElement)) {
      const chosen = other === tab;
      other.setAttribute("aria-selected", String(chosen));
      other.tabIndex = chosen ? 0 : -1;
      document.getElementById(other.getAttribute("aria-controls")).hidden = !chosen;
    }
  };
  const select = (tab) => {
    choose(tab);
    drawAll();
  };

  for (const list of all('[role="tablist"]')) {
    const tabs = all('[role="tab"]', list);
    list.addEventListener("click", (event) => {
      const tab = event.target.closest('[role="tab"]');
      if (tab) select(tab);
    });
    list.addEventListener("keydown", (event) => {
      const at = tabs.indexOf(document.activeElement);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
      if (at < 0 || to === undefined) return;
      event.preventDefault();
      const tab = tabs[(to + tabs.length) % tabs.length];
      select(tab);
      tab.focus();
    });
    // Hide panels before anything is drawn. A single tab stays: its label names the step.
    if (tabs.length) choose(tabs[0]);
  }

  const sort = (header) => {
    const row = header.parentElement;
    const body = header.closest("table").tBodies[0];
    const index = [...row.children].indexOf(header);
    const falling = header.getAttribute("aria-sort") === "ascending";
    for (const other of row.children) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", falling ? "descending" : "ascending");
    const value = (line) => {
      const text = line.children[index].dataset.value;
      return text === "" ? NaN : Number(text);
    };
    // Rows without a value sort last in both directions.
    const compare = (a, b) => {
      const [x, y] = [value(a), value(b)];
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
      return falling ? y - x : x - y;
    };
    body.append(...[...body.rows].sort(compare));
  };
  for (const button of all("thead button")) {
    button.addEventListener("click", () => sort(button.closest("th")));
  }

  for (const folded of all("details")) folded.addEventListener("toggle", drawAll);

  // A link to what is folded or behind a tab shows it.
  const aim = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let at = target; at; at = at.parentElement) {
      if (at.matches("details")) at.open = true;
      if (at.matches("[role=tabpanel]")) {
        const tab = document.getElementById(at.getAttribute("aria-labelledby"));
        if (tab) choose(tab);
      }
    }
    if (target) target.scrollIntoView();
    return drawAll();
  };
  addEventListener("hashchange", aim);

  for (const box of all(".design-toggle")) {
    box.addEventListener("change", () => {
      for (const [element, view] of views) if (view) show(element, view);
    });
  }
  // In print, CSS overrides the chart colours, because there is no time to redraw.
  dark.addEventListener("change", () => matchMedia("print").matches || redraw());
  aim().then(() => document.documentElement.classList.add("drawn"));
})();
