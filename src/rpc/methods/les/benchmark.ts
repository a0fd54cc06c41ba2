import { randomBytes, randomInt } from "node:crypto";
import { errorClassOf } from "../../../base/errors.ts";
import { ZERO_ADDRESS } from "../../../base/primitives/address.ts";
import { bytesToHex } from "../../../base/primitives/hex.ts";
import { SharedSlices } from "../../../base/threads/shared-slices.ts";
import { signTransaction } from "../../../base/types/transaction/sign.ts";
import { array, json, jsonString, lenientInteger, type ParamCodec } from "../../transport/codec.ts";
import type { CallContext } from "../../transport/dispatch/context.ts";
import type { Method } from "../../transport/dispatch/method.ts";
import { InvalidValueError, RequestTimeoutError } from "../../transport/errors.ts";
import { getRawBlock, getRawHeader, getRawReceipts } from "../debug/raw.ts";
import { defineMethod } from "../define-method.ts";
import { getCode, getProof } from "../eth/state.ts";
import { sendRawTransaction } from "../eth/submit.ts";
import { getTransactionByHash } from "../eth/transactions.ts";
import type { RpcPorts } from "../rpc-ports.ts";
import { getHeaderProof } from "./checkpoints.ts";
import { clientParameters } from "./clients.ts";

/** Of all setups and passes: less than a call over HTTP may take (`json-rpc.http-timeout` by default). */
const TOTAL_MS_MAX = 20_000;
const SETUPS_MAX = 20;
/** Headers of one request, as in geth's protocol. */
const HEADERS_MAX = 192;

/** Calls that make up one request, with parameters that no cache knows. */
type Request = readonly (readonly [Method<RpcPorts>, readonly unknown[]])[];
type Setup = Readonly<Record<string, unknown>>;
type Target = { readonly ports: RpcPorts; readonly head: number };

const hexNumber = (number: number) => `0x${number.toString(16)}`;
const anyBlock = ({ head }: Target) => hexNumber(randomInt(head + 1));
const anyHex = (length: number) => bytesToHex(randomBytes(length));

/** Requests by geth's names for them. */
const REQUESTS: Readonly<Record<string, (target: Target, setup: Setup) => Request>> = {
  header(target, { amount = 1, skip = 0, reverse = false }) {
    const count = Math.min(HEADERS_MAX, Number(amount));
    const step = (reverse === true ? -1 : 1) * (Number(skip) + 1);
    const first = randomInt(target.head + 1);
    return Array.from({ length: count }, (_, index) => first + index * step)
      .filter((number) => number >= 0 && number <= target.head)
      .map((number) => [getRawHeader, [hexNumber(number)]]);
  },
  body: (target) => [[getRawBlock, [anyBlock(target)]]],
  receipts: (target) => [[getRawReceipts, [anyBlock(target)]]],
  proof: () => [[getProof, [anyHex(20), [], "latest"]]],
  code: () => [[getCode, [anyHex(20), "latest"]]],
  cht: (target) => [[getHeaderProof, [randomInt(target.head + 1), 0]]],
  // Of an account without ether: the pool checks it and rejects it.
  txSend: ({ ports }) => [[sendRawTransaction, [transactionOfNobody(ports.chain.config.chainId)]]],
  txStatus: () => [[getTransactionByHash, [anyHex(32)]]],
};

function transactionOfNobody(chainId: bigint): string {
  const { raw } = signTransaction(
    {
      type: 0,
      chainId,
      nonce: 0n,
      gasPrice: 10n ** 12n,
      gasLimit: 21_000n,
      to: ZERO_ADDRESS,
      value: 1n,
      data: new Uint8Array(0),
    },
    randomBytes(32),
  );
  return bytesToHex(raw);
}

type Measured = { totalCount: number; totalNs: number; maxInSize: number; maxOutSize: number };

const setups: ParamCodec<readonly Setup[]> = array(clientParameters, "[]map[string]interface {}");

/**
 * `les_benchmark`: serves requests of each setup for `length` ms in each of `passCount` passes. Returns `{totalCount, avgTime, maxInSize,
 * maxOutSize}` for each setup, in nanoseconds and bytes, or `{error}`. Types are `header` (with `amount`, `skip`, `reverse`), `body`,
 * `receipts`, `proof`, `code`, `cht`, `txSend`, `txStatus`.
 *
 * @throws InvalidValueError for an unknown type or more than 20 seconds in all
 */
export const benchmark = defineMethod({
  name: "les_benchmark",
  params: { setups, passCount: lenientInteger, length: lenientInteger },
  result: json,
  private: true,
  async handle({ setups, passCount, length }, ports: RpcPorts, context) {
    if (setups.length > SETUPS_MAX || setups.length * passCount * length > TOTAL_MS_MAX) {
      throw new InvalidValueError(`at most ${SETUPS_MAX} setups and ${TOTAL_MS_MAX} ms`);
    }
    const makers = setups.map(({ type }) => {
      const make = Object.hasOwn(REQUESTS, String(type)) ? REQUESTS[String(type)] : undefined;
      if (make === undefined) throw new InvalidValueError("unknown benchmark type");
      return make;
    });
    const target = { ports, head: (await ports.chain.head()).header.number };
    const results = setups.map((): Measured => ({ totalCount: 0, totalNs: 0, maxInSize: 0, maxOutSize: 0 }));
    const errors = new Map<number, unknown>();
    const slices = new SharedSlices(ports.timers);
    await slices.enter();
    for (let pass = 0; pass < passCount; pass++) {
      for (const [index, make] of makers.entries()) {
        const measured = results[index]!;
        const endNs = measured.totalNs + length * 1e6;
        while (measured.totalNs < endNs && !errors.has(index)) {
          if (slices.isOver()) await slices.next();
          if (context.isAborted) throw new RequestTimeoutError();
          try {
            await serve(make(target, setups[index]!), measured, ports, context);
          } catch (error) {
            if (errorClassOf(error) !== "caller") throw error;
            errors.set(index, error);
          }
        }
      }
    }
    return results.map(({ totalNs, ...counts }, index) => {
      const error = errors.get(index);
      if (error !== undefined) return { error: (error as Error).message };
      const avgTime = Math.round(totalNs / Math.max(1, counts.totalCount));
      return { ...counts, avgTime };
    });
  },
});

/** Serves one request and counts it. A transaction that the pool rejects is served. */
async function serve(request: Request, measured: Measured, ports: RpcPorts, context: CallContext): Promise<void> {
  let inSize = 0;
  let outSize = 0;
  const begin = performance.now();
  for (const [method, params] of request) {
    inSize += JSON.stringify(params).length;
    try {
      outSize += jsonString(await method.run(ports, params, context)).length;
    } catch (error) {
      if (method !== sendRawTransaction || errorClassOf(error) !== "caller") throw error;
    }
  }
  // At least the resolution of the clock: the measurement has to end.
  measured.totalNs += Math.max(1000, (performance.now() - begin) * 1e6);
  measured.totalCount++;
  measured.maxInSize = Math.max(measured.maxInSize, inSize);
  measured.maxOutSize = Math.max(measured.maxOutSize, outSize);
}
