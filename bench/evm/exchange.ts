import { readFileSync } from "node:fs";
import { type Abi, decodeAbiParameters, encodeDeployData, encodeFunctionData } from "viem";
import type { GenesisAccount } from "../../src/base/params/genesis-account.ts";
import type { Address } from "../../src/base/primitives/address.ts";
import { bytesToHex, hexToBytes } from "../../src/base/primitives/hex.ts";
import { createAddress } from "../../src/evm/machine/contract-creation.ts";
import { createEvm } from "../../src/evm/machine/engine.ts";
import { createWorldState } from "../../src/evm/state/world-state.ts";
import { testBlock, testMessage } from "../../test/support/evm/machine/environment.ts";
import { createMemoryState } from "../../test/support/evm/state/memory-state.ts";
import type { Program } from "./programs.ts";

const OWNER = `0x${"aa".repeat(20)}` as Address;
/** 2^96: both tokens cost the same. */
const SQRT_PRICE = 79_228_162_514_264_337_593_543_950_336n;
const SUPPLY = 10n ** 30n;
const LIQUIDITY = 10n ** 24n;

type Artifact = { readonly abi: Abi; readonly bytecode: `0x${string}` };

/** The contracts as their authors published them, and this project's customer. */
const CONTRACTS = {
  token: published("@uniswap/v2-core/build/ERC20.json"),
  factoryV2: published("@uniswap/v2-core/build/UniswapV2Factory.json"),
  pairV2: published("@uniswap/v2-core/build/UniswapV2Pair.json"),
  factoryV3: published("@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json"),
  poolV3: published("@uniswap/v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json"),
  trader: read(new URL("../contracts/Trader.json", import.meta.url)),
};

function published(path: string): Artifact {
  return read(new URL(`../../node_modules/${path}`, import.meta.url));
}

function read(file: URL): Artifact {
  const { abi, bytecode, evm } = JSON.parse(readFileSync(file, "utf8"));
  const digits = (bytecode ?? evm.bytecode.object) as string;
  return { abi, bytecode: `0x${digits.replace(/^0x/, "")}` };
}

/** Addresses of what `deployExchange` deploys. */
export type Exchange = {
  readonly accounts: ReadonlyMap<Address, GenesisAccount>;
  readonly trader: Address;
  readonly tokens: readonly [Address, Address];
  readonly pairV2: Address;
  readonly poolV3: Address;
};

/** Two tokens, a v2 pair and a v3 pool with liquidity, and a trader with tokens, as they are after their transactions. */
export function deployExchange(): Exchange {
  const evm = createEvm();
  const state = createWorldState(createMemoryState());
  const block = testBlock({ hardfork: "prague", gasLimit: 10n ** 12n, timestamp: 1_700_000_000 });
  let nonce = 0n;
  const execute = (to: Address | null, data: `0x${string}`): Uint8Array => {
    const { outcome, returnData, selfDestructs } = evm.execute(
      testMessage({
        to,
        caller: OWNER,
        origin: OWNER,
        data: hexToBytes(data),
        gas: 100_000_000n,
        ...(to === null ? { createAddress: createAddress(OWNER, nonce) } : {}),
      }),
      block,
      state,
    );
    if (outcome !== "success") throw new Error(`deployment: ${outcome} ${bytesToHex(returnData)}`);
    state.finalizeTransaction({ selfDestructs, deleteEmptyTouched: true });
    return returnData;
  };
  const deploy = ({ abi, bytecode }: Artifact, args: readonly unknown[] = []): Address => {
    execute(null, encodeDeployData({ abi, bytecode, args }));
    return createAddress(OWNER, nonce++);
  };
  const call = (to: Address, { abi }: Artifact, functionName: string, args: readonly unknown[]) =>
    execute(to, encodeFunctionData({ abi, functionName, args }));
  const addressIn = (data: Uint8Array) =>
    decodeAbiParameters([{ type: "address" }], bytesToHex(data))[0].toLowerCase() as Address;

  const tokens = [1, 2].map(() => deploy(CONTRACTS.token, [SUPPLY])).sort() as [Address, Address];
  const factoryV2 = deploy(CONTRACTS.factoryV2, [OWNER]);
  const factoryV3 = deploy(CONTRACTS.factoryV3);
  const trader = deploy(CONTRACTS.trader);
  const pairV2 = addressIn(call(factoryV2, CONTRACTS.factoryV2, "createPair", tokens));
  const poolV3 = addressIn(call(factoryV3, CONTRACTS.factoryV3, "createPool", [...tokens, 3000]));
  for (const token of tokens) call(token, CONTRACTS.token, "transfer", [trader, SUPPLY / 2n]);
  call(poolV3, CONTRACTS.poolV3, "initialize", [SQRT_PRICE]);
  call(trader, CONTRACTS.trader, "setTokens", tokens);
  call(trader, CONTRACTS.trader, "addLiquidityV2", [pairV2, LIQUIDITY]);
  call(trader, CONTRACTS.trader, "addLiquidityV3", [poolV3, LIQUIDITY]);

  const accounts = new Map<Address, GenesisAccount>();
  for (const { address, account, storage } of state.changes().accounts) {
    if (account === null) continue;
    const { balance, nonce, codeHash } = account;
    accounts.set(address, { balance, nonce, code: state.code(codeHash), storage });
  }
  return { accounts, trader, tokens, pairV2, poolV3 };
}

/** Calldata of one swap through the trader. */
export function swapCall({ pairV2, poolV3 }: Exchange, version: "v2" | "v3"): Uint8Array {
  const [functionName, market] = version === "v2" ? ["swapsV2", pairV2] : ["swapsV3", poolV3];
  return hexToBytes(encodeFunctionData({ abi: CONTRACTS.trader.abi, functionName, args: [market, 1n] }));
}

/** Work of exchanges: transfers to accounts without a balance, and swaps both ways in turn. */
export function exchangePrograms(exchange: Exchange): readonly Program[] {
  const { accounts, trader, pairV2, poolV3 } = exchange;
  const program = (name: string, functionName: string, args: readonly unknown[]): Program => ({
    name,
    accounts,
    to: trader,
    code: accounts.get(trader)!.code!,
    data: hexToBytes(encodeFunctionData({ abi: CONTRACTS.trader.abi, functionName, args })),
  });
  return [
    program("ERC-20 transfers, cold storage", "transfers", [1_000n]),
    program("Uniswap v2 swaps", "swapsV2", [pairV2, 300n]),
    program("Uniswap v3 swaps", "swapsV3", [poolV3, 300n]),
  ];
}
