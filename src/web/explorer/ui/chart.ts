import uPlot from "uplot";

/** Bars of gas used and a line of the base fee, by block number. */
export type ChartData = {
  readonly numbers: readonly number[];
  /** percent of the gas limit */
  readonly gasUsed: readonly number[];
  /** gwei */
  readonly baseFee: readonly number[];
};

const HEIGHT = 180;
/** Possible intervals of block numbers on the axis. */
const WHOLE_STEPS = [1, 2, 5, 10, 20, 50];

export type Chart = { update(data: ChartData): void; destroy(): void };

/** Draws into `element` and follows its width. */
export function drawChart(element: HTMLElement, data: ChartData): Chart {
  const style = getComputedStyle(element);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: color("--muted"),
    grid: { stroke: color("--line"), width: 1 },
    ticks: { show: false },
    font: "11px system-ui, sans-serif",
  };
  const plot = new uPlot(
    {
      width: element.clientWidth,
      height: HEIGHT,
      cursor: { y: false, points: { show: false } },
      legend: { show: false },
      scales: { x: { time: false }, "%": { range: [0, 100] }, gwei: { range: rangeFromZero } },
      axes: [
        { ...axis, size: 28, incrs: WHOLE_STEPS },
        { ...axis, scale: "%", size: 44, values: (_, ticks) => ticks.map((tick) => `${tick}%`) },
        { ...axis, scale: "gwei", side: 1, size: 56, grid: { show: false } },
      ],
      series: [
        {},
        {
          scale: "%",
          fill: color("--bar"),
          stroke: color("--bar"),
          paths: uPlot.paths.bars!({ size: [0.7, 24] }),
          points: { show: false },
        },
        { scale: "gwei", stroke: color("--accent"), width: 2, points: { show: false } },
      ],
    },
    columnsOf(data),
    element,
  );
  const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
  observer.observe(element);
  return {
    update: (next) => plot.setData(columnsOf(next)),
    destroy() {
      observer.disconnect();
      plot.destroy();
    },
  };
}

function columnsOf({ numbers, gasUsed, baseFee }: ChartData): uPlot.AlignedData {
  return [[...numbers], [...gasUsed], [...baseFee]];
}

/** Leaves room above the highest value, even if all are zero. */
function rangeFromZero(_plot: uPlot, _min: number, max: number): [number, number] {
  return [0, max > 0 ? max * 1.2 : 1];
}
