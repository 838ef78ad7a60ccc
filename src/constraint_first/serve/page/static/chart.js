// Charts: how many attempts there were at each time, and what share of them was right.
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

for (const figure of document.querySelectorAll("[data-chart]")) draw(figure);

async function draw(figure) {
  let chart = null;
  const show = async () => {
    const reply = await fetch(figure.dataset.chart);
    if (!reply.ok) return;
    const { times, attempts, right } = await reply.json();
    if (times.length < 3) return;
    chart?.destroy();
    const shares = right.map((count, at) => (100 * count) / attempts[at]);
    chart = new uPlot(options(figure.clientWidth), [times, attempts, shares], figure);
  };
  await show();
  new ResizeObserver(() => {
    if (chart && Math.abs(chart.width - figure.clientWidth) > 4) {
      chart.setSize({ width: figure.clientWidth, height: chart.height });
    }
  }).observe(figure);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  // While the table beside it is renewed, so is the chart, now and then.
  let last = Date.now();
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target.id === "series" && Date.now() - last > 5000) {
      last = Date.now();
      show();
    }
  });
}

function options(width) {
  const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
  return {
    width,
    height: 200,
    legend: { live: false },
    scales: { share: { range: [0, 100] } },
    axes: [axis, { ...axis, size: 56 }, { ...axis, scale: "share", side: 1, grid: { show: false }, values: (_, all) => all.map((one) => `${one} %`) }],
    series: [
      {},
      { label: "attempts", stroke: colour("--accent"), width: 2, fill: colour("--tint"), points: { show: false } },
      { label: "right, so far", scale: "share", stroke: colour("--gain"), width: 2, points: { show: false } },
    ],
  };
}
