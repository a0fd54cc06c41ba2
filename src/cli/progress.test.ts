import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { createProgress } from "./progress.ts";

function recorder(isTTY: boolean) {
  const chunks: string[] = [];
  let time = 0;
  const stderr = Object.assign(new PassThrough(), { isTTY });
  stderr.on("data", (chunk) => chunks.push(String(chunk)));
  const progress = createProgress("import", { stderr, now: () => time });
  return {
    chunks,
    progress,
    at(ms: number, done: number) {
      time = ms;
      progress.show({ done, total: 200, unit: "blocks" });
    },
  };
}

test("progress off a terminal is one JSON object every two seconds, the last state included", () => {
  const { chunks, progress, at } = recorder(false);
  for (let ms = 0; ms <= 4900; ms += 100) at(ms, ms / 100);
  progress.end();
  const lines = chunks.map((chunk) => JSON.parse(chunk));
  assert.deepEqual(
    lines.map(({ done }) => done),
    [0, 20, 40, 49],
  );
  assert.deepEqual(lines[1], {
    progress: "import",
    done: 20,
    total: 200,
    unit: "blocks",
    elapsedMs: 2000,
  });
});

test("progress on a terminal redraws one line and leaves it at the end", () => {
  const { chunks, progress, at } = recorder(true);
  at(0, 0);
  at(1000, 50);
  progress.end();
  assert.ok(chunks.every((chunk, index) => index === 2 || chunk.startsWith("\r")));
  assert.ok(chunks[1]!.includes("25 %") && chunks[1]!.includes("3 s left"));
  assert.equal(chunks.at(-1), "\n");
});

test("work that reports nothing prints nothing", () => {
  const { chunks, progress } = recorder(true);
  progress.end();
  assert.deepEqual(chunks, []);
});
