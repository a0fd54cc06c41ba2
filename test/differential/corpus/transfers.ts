import { asm } from "../assemble.ts";
import type { ChainFacts, DifferentialCase } from "./request.ts";

const addressOf = (index: number) => `0x${(0x7a45fe00 + index).toString(16).padStart(40, "0")}`;
const [CALLER, LOGGER, REVERTER, BORROWER, CREATOR] = [1, 2, 3, 4, 5].map(addressOf) as [
  ...[string, string, string, string, string],
];
const ETHER = "0xde0b6b3a7640000";

const logOf = (topic: number) => `${topic} PUSH0 PUSH0 LOG1`;
const callOf = (opcode: "CALL" | "CALLCODE", to: string, value: number) =>
  `PUSH0 PUSH0 PUSH0 PUSH0 ${value} ${to} GAS ${opcode} POP`;

/** Calls with value that log before and after, revert with all they logged, borrow code, create and destroy. */
const OVERRIDES = {
  [CALLER]: {
    balance: ETHER,
    code: asm(
      `${logOf(9)} ${callOf("CALL", LOGGER, 5)} ${callOf("CALL", REVERTER, 6)} ${callOf("CALL", BORROWER, 7)} ${logOf(3)}`,
    ),
  },
  [LOGGER]: { balance: ETHER, code: asm(logOf(4)) },
  [REVERTER]: {
    balance: ETHER,
    code: asm(`${logOf(4)} ${callOf("CALL", LOGGER, 1)} PUSH0 PUSH0 REVERT`),
  },
  [BORROWER]: {
    balance: ETHER,
    code: asm(
      `${callOf("CALLCODE", LOGGER, 3)} PUSH0 PUSH0 PUSH0 PUSH0 ${LOGGER} GAS DELEGATECALL POP ${REVERTER} SELFDESTRUCT`,
    ),
  },
  [CREATOR]: { balance: ETHER, code: asm(`PUSH0 PUSH0 9 CREATE POP ${LOGGER} SELFDESTRUCT`) },
};

/** Simulations with every kind of transfer of ether: the logs of each, and their positions in the block. */
export function* transferCases({ sender }: ChainFacts): Generator<DifferentialCase> {
  const call = (to: string, value?: string) => ({ from: sender, to, ...(value && { value }) });
  const blockStateCalls = [
    {
      stateOverrides: OVERRIDES,
      calls: [call(CALLER, "0x3"), call(CREATOR), call(LOGGER, "0x1"), call(REVERTER, "0x2"), call(BORROWER)],
    },
    { calls: [call(CALLER), { from: CALLER, to: LOGGER, value: "0x1" }] },
  ];
  for (const traceTransfers of [true, false]) {
    yield {
      name: `transfers of ether, logged: ${traceTransfers}`,
      method: "eth_simulateV1",
      params: [{ traceTransfers, blockStateCalls }, "latest"],
    };
  }
}

/** Transactions to be filled with an empty list of authorizations, with and without what is estimated. */
export function* emptyAuthorizationCases({ sender }: ChainFacts): Generator<DifferentialCase> {
  for (const more of [{}, { gas: "0x10000" }, { accessList: [] }, { nonce: "0x0" }]) {
    yield {
      name: `no authorizations ${JSON.stringify(more)}`,
      method: "eth_fillTransaction",
      params: [{ from: sender, to: LOGGER, authorizationList: [], ...more }],
    };
  }
}
