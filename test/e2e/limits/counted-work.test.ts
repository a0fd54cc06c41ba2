import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { LEFT_OUT, methodsOf } from "../../../bench/cost/audit.ts";
import { type Place, placesOf } from "../../../bench/cost/growth.ts";
import { type NodeUnderAudit, startNodeUnderAudit } from "../../../bench/cost/node-under-audit.ts";

/**
 * What a request costs has to be in proportion to its bytes. Here the node counts calls of functions and turns of loops, for each method that it serves, and for
 * each place of its parameters that can grow. Times are `npm run audit:cost`'s.
 */

const SIZES = [1, 100, 800] as const;
/** Of counted work: most places have a tenth of it, whatever is behind them. */
const WORK_PER_BYTE_MAX = 3;
/** Work that grows by more than this, for the same bytes, is not linear. */
const GROWTH_MAX = 2;
/** At this rate for the largest request it has no loop over pairs: a turn for each pair of 800 items is ten times as much. */
const FLAT = 0.5;
/** What timers and the first call of a function add; a loop over pairs of 800 items has hundreds of thousands of turns. */
const NOISE = 5_000;

/** Methods whose items cost more than their bytes, with what bounds them. */
const BOUNDED: Readonly<Record<string, string>> = {
  debug_traceCallMany: "the deadline of traces, which is looked at before each call",
  eth_callMany: "the deadline of calls, which is looked at before each call",
  eth_simulateV1: "the items of a request: one of two characters is decoded as a whole call",
};

/** They work for a second by design: scrypt, a proof of work, compilers. */
const SLOW = new Set(["personal_newAccount", "shh_post", "eth_compileSolidity", "eth_compileStandardJson"]);

let node: NodeUnderAudit;
before(async () => {
  node = await startNodeUnderAudit();
});
after(() => node.stop());

async function workOf(name: string, { parameters }: Place, size: number) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: name, params: parameters(size) });
  return { bytes: body.length, work: await node.countedWork({ path: "/", body }) };
}

type Work = Awaited<ReturnType<typeof workOf>>;

/** Counts for each byte of small and of large requests. */
function ratesOf(one: Work, some: Work, many: Work) {
  return {
    early: Math.max(0, some.work - one.work) / (some.bytes - one.bytes),
    late: Math.max(0, many.work - some.work - NOISE) / (many.bytes - some.bytes),
  };
}

function isFault(name: string, { early, late }: ReturnType<typeof ratesOf>): boolean {
  return (BOUNDED[name] === undefined && late > WORK_PER_BYTE_MAX) || late > GROWTH_MAX * early;
}

test("counted work of every method that is served grows with the bytes of its request, and no faster", async () => {
  const faults: string[] = [];
  let places = 0;
  for (const { name, params } of await methodsOf(node)) {
    if (LEFT_OUT[name] || SLOW.has(name)) continue;
    let one: Work | undefined;
    for (const place of placesOf(params)) {
      places++;
      // Of the smallest request, wherever it grows.
      one ??= await workOf(name, place, SIZES[0]);
      let many = await workOf(name, place, SIZES[2]);
      if (many.work - one.work < FLAT * (many.bytes - one.bytes)) continue;
      let some = await workOf(name, place, SIZES[1]);
      // Other work of the node came between: a second time it does not.
      if (isFault(name, ratesOf(one, some, many))) {
        one = await workOf(name, place, SIZES[0]);
        some = await workOf(name, place, SIZES[1]);
        many = await workOf(name, place, SIZES[2]);
      }
      const rates = ratesOf(one, some, many);
      if (isFault(name, rates)) {
        faults.push(`${name} ${place.path}: ${rates.early.toFixed(2)}, then ${rates.late.toFixed(2)} for each byte`);
      }
    }
  }
  assert.deepEqual(faults, []);
  // A schema that says less would leave out places without a word.
  assert.ok(places > 400, `${places} places`);
});
