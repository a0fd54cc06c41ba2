import type { ChainModel } from "./chain-model.ts";
import { balanceInput, type Contracts } from "./contracts.ts";
import type { Call } from "./rpc.ts";

export type StateQuestion = {
  readonly call: Call;
  /** A number, also that of the logs in an answer; or the answer itself. */
  readonly expected: bigint | string;
};

type StateQuestionOptions = {
  readonly model: ChainModel;
  readonly contracts: Contracts;
  readonly random: () => number;
};

/** Accounts, slots and contracts queried each time, of each kind. */
const SAMPLES = 5;

/** What the state after block `head` must answer. Logs are queried from block `oldest` on. */
export function stateQuestions(
  { model, contracts, random }: StateQuestionOptions,
  { head, oldest }: { readonly head: number; readonly oldest: number },
): readonly StateQuestion[] {
  const block = `0x${head.toString(16)}`;
  const some = <T>(all: readonly T[]): readonly T[] =>
    all.length <= SAMPLES ? all : Array.from({ length: SAMPLES }, () => all[Math.floor(random() * all.length)]!);
  const { recorder, token, spinner } = contracts;
  const accounts = some(model.accounts);
  const fromBlock = `0x${oldest.toString(16)}`;
  return [
    ...accounts.flatMap((account): StateQuestion[] => [
      { call: ["eth_getBalance", account, block], expected: model.balanceOf(account) },
    ]),
    ...accounts
      .filter((account) => account !== token && !model.codes.has(account))
      .map(
        (account): StateQuestion => ({
          call: ["eth_getTransactionCount", account, block],
          expected: model.nonceOf(account),
        }),
      ),
    ...some([...model.recorded]).map(
      ([slot, value]): StateQuestion => ({
        call: ["eth_getStorageAt", recorder, `0x${slot.toString(16)}`, block],
        expected: value,
      }),
    ),
    { call: ["eth_getStorageAt", recorder, "0x0", block], expected: model.recorderCalls },
    { call: ["eth_getStorageAt", spinner, "0x0", block], expected: model.spinnerCalls },
    ...some([...model.codes]).map(
      ([address, code]): StateQuestion => ({ call: ["eth_getCode", address, block], expected: code }),
    ),
    ...some(model.tokenOwners).map(
      (owner): StateQuestion => ({
        call: ["eth_call", { to: token, data: balanceInput(owner) }, block],
        expected: model.tokensOf(owner),
      }),
    ),
    {
      call: ["eth_getLogs", { address: recorder, fromBlock, toBlock: block }],
      expected: BigInt(model.recorderLogs(oldest, head)),
    },
  ];
}
