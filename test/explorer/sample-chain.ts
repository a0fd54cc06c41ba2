import { encodeDeployData, encodeFunctionData, type Hex } from "viem";
import { toQuantity } from "../../src/base/primitives/quantity.ts";
import type { Json } from "../../src/web/explorer/verify/verdict.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { overHttp } from "../support/clients.ts";
import { contract } from "../support/contracts.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";

/** A dev chain with a token, transfers, a reverted call and some empty blocks. */
export type SampleChain = {
  readonly node: TestNode;
  readonly token: Hex;
  /** Transactions by what they do. */
  readonly deployment: Hex;
  readonly transfer: Hex;
  readonly payment: Hex;
  readonly reverted: Hex;
  /** @throws what the node answers */
  call<T = Json>(method: string, ...params: unknown[]): Promise<T>;
};

/** A call that makes more of them at once would not end in its time on a busy machine. */
const MINED_AT_ONCE = 250;

/** @param emptyBlocks after those with transactions */
export async function startSampleChain(
  emptyBlocks = 40,
  settings: Readonly<Record<string, string>> = {},
): Promise<SampleChain> {
  const node = await startTestNode({ dev: true, settings });
  const [from, to] = DEV_ADDRESSES as unknown as readonly [Hex, Hex];
  const { abi, bytecode } = contract("Token");
  async function call<T>(method: string, ...params: unknown[]): Promise<T> {
    const { result, error } = await overHttp(node.url, method, params);
    if (error) throw new Error(`${method}: ${error.message}`);
    return result as T;
  }
  const send = (transaction: Json) => call<Hex>("eth_sendTransaction", { from, gas: "0x200000", ...transaction });
  const use = (functionName: string, ...args: unknown[]) => encodeFunctionData({ abi, functionName, args });

  const deployment = await send({
    data: encodeDeployData({ abi, bytecode, args: [10n ** 24n] }),
  });
  const { contractAddress } = await call<{ contractAddress: Hex }>("eth_getTransactionReceipt", deployment);
  const transfer = await send({ to: contractAddress, data: use("transfer", to, 1234n) });
  const payment = await send({ to, value: "0xde0b6b3a7640000" });
  const reverted = await send({
    from: to,
    to: contractAddress,
    data: use("transfer", from, 10n ** 60n),
  });
  for (let left = emptyBlocks; left > 0; left -= MINED_AT_ONCE) {
    await call("anvil_mine", toQuantity(Math.min(left, MINED_AT_ONCE)));
  }
  return { node, token: contractAddress, deployment, transfer, payment, reverted, call };
}
