import type { Plan } from "../scenario/plan.ts";
import type { Result } from "./protocol.ts";

const WIDTH = 1_600;
const LEFT = 90;
const ROW = 64;

/** Lines of the trace that a page shows at most: the newest. */
const LINES_MAX = 5_000;

/** A page with a row for each node: when it ran, the blocks it committed, what went wrong with it; the trace below. */
export function timeLine(result: Result, plan: Plan): string {
  const { lines, violation, virtualMs } = result;
  const x = (ms: number) => LEFT + ((WIDTH - LEFT - 10) * ms) / virtualMs;
  const marks: string[] = [];
  for (const fault of plan.faults) {
    const y = 30 + fault.node * ROW;
    const width = Math.max(3, x(fault.atMs + fault.forMs) - x(fault.atMs));
    marks.push(
      box("fault", { x: x(fault.atMs), y: y + 34, width, height: 10 }, `${fault.kind} at ${seconds(fault.atMs)}`),
    );
  }
  const startedAt = new Map<number, number>();
  const highest = Math.max(1, result.blocks);
  for (const { time, source, text } of lines) {
    const [, name, program] = /^node-(\d+)\/(\w+)$/.exec(source) ?? [];
    if (name === undefined) continue;
    const node = Number(name);
    const y = 30 + node * ROW;
    if (text.startsWith("started at")) startedAt.set(node, time);
    if (program === "evmintd" && text.startsWith("ends")) {
      marks.push(running(x, y, startedAt.get(node) ?? time, time));
      startedAt.delete(node);
      marks.push(box("end", { x: x(time), y, width: 2, height: 44 }, `${text} at ${seconds(time)}`));
    }
    const [, height] = /block committed number=(\d+)/.exec(text) ?? [];
    if (height !== undefined) {
      const at = { x: x(time), y: y + 30 - (28 * Number(height)) / highest, width: 2, height: 3 };
      marks.push(box("block", at, `block ${height} at ${seconds(time)}`));
    }
  }
  for (const [node, since] of startedAt) marks.unshift(running(x, 30 + node * ROW, since, virtualMs));
  const names = plan.nodes.map((node, index) => {
    const kind = node.isValidator ? "validator" : "follower";
    return `<text x="4" y="${50 + index * ROW}">node-${index}</text><text x="4" y="${66 + index * ROW}" class="kind">${kind}</text>`;
  });
  const healed = box(
    "healed",
    { x: x(plan.durationMs), y: 20, width: 1, height: plan.nodes.length * ROW },
    "everything is healed",
  );
  const end = violation
    ? box("violation", { x: x(virtualMs) - 3, y: 20, width: 3, height: plan.nodes.length * ROW }, violation.message)
    : "";
  const outcome = violation ? violation.message : "green";
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Seed ${plan.seed}</title>
<style>
  body { font: 14px system-ui, sans-serif; margin: 1rem; }
  svg { width: 100%; background: #fafafa; border: 1px solid #ccc; }
  .running { fill: #dcefdc; } .block { fill: #1b6e3c; } .fault { fill: #d88a00; opacity: 0.7; } .end { fill: #444; }
  .healed { fill: #3367d6; } .violation { fill: #c00; } .kind { fill: #666; font-size: 11px; }
  pre { white-space: pre-wrap; font-size: 12px; } .bad { color: #c00; }
</style>
<h1>Seed ${plan.seed}: ${plan.nodes.length} × ${plan.engine}, blocks of ${plan.blockTimeMs} ms</h1>
<p class="${violation ? "bad" : ""}">${escapeHtml(outcome)}</p>
<svg viewBox="0 0 ${WIDTH} ${40 + plan.nodes.length * ROW}" role="img" aria-label="Time line of all nodes">
${[...marks, ...names, healed, end].join("\n")}
</svg>
<p>${seconds(virtualMs)} of virtual time. Green: the node runs. Dots: blocks, higher ones further up. Orange: faults. Blue: everything is healed. Point at a mark to read it.</p>
<pre>${lines
    .slice(-LINES_MAX)
    .map(({ time, source, text }) => escapeHtml(`${seconds(time)} ${source} ${text}`))
    .join("\n")}</pre>
</html>
`;
}

type Box = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };

function box(kind: string, { x, y, width, height }: Box, title: string): string {
  const place = `x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${width.toFixed(1)}" height="${height}"`;
  return `<rect class="${kind}" ${place}><title>${escapeHtml(title)}</title></rect>`;
}

function running(x: (ms: number) => number, y: number, from: number, to: number): string {
  return box(
    "running",
    { x: x(from), y, width: x(to) - x(from), height: 44 },
    `runs from ${seconds(from)} to ${seconds(to)}`,
  );
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(3)} s`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (each) => `&#${each.charCodeAt(0)};`);
}
