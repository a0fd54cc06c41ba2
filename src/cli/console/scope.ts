import { createRequire } from "node:module";
import { inspect } from "node:util";
import { ConnectionFailedError, type RpcConnection } from "./connection.ts";
import { namespacesOf, parseMethods } from "./methods.ts";
import { createScriptConsole, type Print, type Scope } from "./scripts.ts";

type Viem = typeof import("viem") & typeof import("viem/accounts");

/** viem: loading it takes a fifth of a second. The build has it as a file beside the bundle. */
function loadViem(): Viem {
  const load = createRequire(import.meta.url);
  const isSource = import.meta.url.endsWith(".ts");
  return (isSource ? { ...load("viem"), ...load("viem/accounts") } : load("./viem.cjs")) as Viem;
}

/** viem's functions that are global names; all others are in `viem`. */
const VIEM_NAMES = [
  "parseEther",
  "formatEther",
  "parseGwei",
  "formatGwei",
  "parseUnits",
  "formatUnits",
  "parseAbi",
  "parseAbiItem",
  "encodeFunctionData",
  "decodeFunctionData",
  "decodeFunctionResult",
  "encodeAbiParameters",
  "decodeAbiParameters",
  "decodeEventLog",
  "keccak256",
  "toHex",
  "fromHex",
  "hexToBigInt",
  "hexToString",
  "stringToHex",
  "getAddress",
  "isAddress",
  "zeroAddress",
  "getContractAddress",
  "getContract",
  "privateKeyToAccount",
  "mnemonicToAccount",
  "generatePrivateKey",
];

const CLIENT_NAMES = ["publicClient", "walletClient", "testClient"];

/** What a node cannot name a namespace. `rpc` is a function and a namespace. */
const OWN_NAMES: ReadonlySet<string> = new Set(["help", "watch", "viem", "console", ...CLIENT_NAMES, ...VIEM_NAMES]);

/** EIP-2294 allows less than 64 bits. */
const CHAIN_ID = /^0x[0-9a-f]{1,16}$/i;

const HELP = `eth.getBalance(address)      a method of the node; a QUANTITY of the answer is a bigint
eth.getBalance               its signature
help(eth)                    all signatures of a namespace
rpc(method, ...params)       any method, with the JSON of the answer
watch("newHeads", listener)  events; without a listener they are printed; gives what ends it
publicClient, walletClient, testClient, viem.…, parseEther(…)   viem
`;

/**
 * The names of the node behind `connection`: its namespaces, viem's clients and functions, and helpers.
 * @param print takes what helpers show
 * @throws RpcResponseError, ConnectionFailedError
 */
export async function createScope(connection: RpcConnection, print: Print): Promise<Scope> {
  const methods = parseMethods(await connection.request("rpc_discover", []));
  const namespaces = namespacesOf(methods, connection, OWN_NAMES);
  const rpc = (method: string, ...params: unknown[]) => connection.request(method, params);
  // Defined, not assigned: a function has names that cannot be assigned to.
  const named = Object.getOwnPropertyDescriptors(namespaces["rpc"] ?? {});
  const scope: Scope = {
    ...namespaces,
    console: createScriptConsole(print),
    rpc: Object.defineProperties(rpc, named),
    help(subject?: unknown) {
      const isNamespace = typeof subject === "object" && subject !== null;
      const lines = isNamespace ? Object.values(subject).map((each) => inspect(each)) : [];
      print(subject === undefined ? HELP : `${lines.join("\n") || inspect(subject)}\n`);
    },
    watch: (event: string, ...rest: unknown[]) => {
      const listener = rest.findLast((each) => typeof each === "function") as ((event: unknown) => void) | undefined;
      const params = rest.filter((each) => typeof each !== "function");
      const show = (each: unknown) => print(`${inspect(each, { depth: null })}\n`);
      return connection.subscribe([event, ...params], listener ?? show);
    },
  };
  const viem = once(loadViem);
  const options = once(() => clientOptions(viem(), chainId, connection));
  const chainId = chainIdOf(await connection.request("eth_chainId", []));
  defineLazy(scope, "viem", viem);
  for (const name of VIEM_NAMES) defineLazy(scope, name, () => viem()[name as keyof Viem]);
  defineLazy(scope, "publicClient", () => viem().createPublicClient(options()));
  defineLazy(scope, "walletClient", () => viem().createWalletClient(options()));
  defineLazy(scope, "testClient", () => viem().createTestClient({ ...options(), mode: "anvil" }));
  return scope;
}

/** @throws ConnectionFailedError */
function chainIdOf(answer: unknown): number {
  if (typeof answer === "string" && CHAIN_ID.test(answer)) return Number(answer);
  throw new ConnectionFailedError("eth_chainId does not answer with a chain id");
}

/** Chain and transport of viem's clients. */
function clientOptions(viem: Viem, chainId: number, connection: RpcConnection) {
  return {
    chain: viem.defineChain({
      id: chainId,
      name: `chain ${chainId}`,
      nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
      rpcUrls: { default: { http: [connection.target] } },
    }),
    transport: viem.custom({
      request: ({ method, params = [] }: { method: string; params?: readonly unknown[] }) =>
        connection.request(method, params),
    }),
  };
}

/** Computes the property when it is first read. A line of the console may assign to it. */
function defineLazy(scope: Scope, name: string, compute: () => unknown): void {
  const set = (value: unknown) => Object.defineProperty(scope, name, { value, writable: true, configurable: true });
  Object.defineProperty(scope, name, {
    configurable: true,
    enumerable: true,
    get() {
      const value = compute();
      set(value);
      return value;
    },
    set,
  });
}

function once<T>(compute: () => T): () => T {
  let value: { readonly it: T } | undefined;
  return () => {
    value ??= { it: compute() };
    return value.it;
  };
}
