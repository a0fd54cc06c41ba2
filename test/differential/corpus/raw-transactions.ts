import { createRandom } from "../../fuzz/random.ts";
import { send } from "../geth.ts";
import type { ChainFacts, DifferentialCase } from "./request.ts";

/** Bytes that are no good transaction: every prefix, good ones cut, lengthened, and with single bytes changed. */
export async function rawTransactionCases(url: string, { blocks }: ChainFacts): Promise<readonly DifferentialCase[]> {
  const random = createRandom(7);
  const cases: DifferentialCase[] = [];
  const add = (name: string, raw: string) =>
    cases.push({ name: `raw ${name}`, method: "eth_sendRawTransaction", params: [raw] });
  for (let first = 0; first < 256; first++) {
    const byte = first.toString(16).padStart(2, "0");
    for (const rest of ["", "00", "c0", "80", "c180", "f8", "b8", "0102030405"])
      add(`prefix ${byte}`, `0x${byte}${rest}`);
  }
  const byType = new Map<string, string>();
  for (const { transactions } of blocks) {
    for (const hash of transactions) {
      const { result } = await send(url, "eth_getRawTransactionByHash", [hash]);
      const raw = result as string;
      const type = Number.parseInt(raw.slice(2, 4), 16) >= 0xc0 ? "legacy" : raw.slice(2, 4);
      if ((byType.get(type)?.length ?? Number.POSITIVE_INFINITY) > raw.length) byType.set(type, raw);
    }
  }
  for (const [type, raw] of byType) {
    add(`mined ${type}`, raw);
    const size = raw.length / 2 - 1;
    for (let at = 0; at < size; at++) {
      add(`${type} cut at ${at}`, raw.slice(0, 2 + 2 * at));
      for (const byte of [
        "00",
        "80",
        "81",
        "b8",
        "c0",
        "c1",
        "f8",
        "ff",
        random.int(256).toString(16).padStart(2, "0"),
      ]) {
        add(`${type} with ${byte} at ${at}`, `${raw.slice(0, 2 + 2 * at)}${byte}${raw.slice(4 + 2 * at)}`);
      }
    }
    add(`${type} with a byte more`, `${raw}00`);
  }
  for (const bad of [null, "", "0x", "0x1", 5, {}, [], "0xzz"]) {
    cases.push({ name: "raw junk", method: "eth_sendRawTransaction", params: [bad] });
  }
  return cases;
}
