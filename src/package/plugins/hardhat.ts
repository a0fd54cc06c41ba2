import { type CreateNodeOptions, createNode, type EvmintNode, ProviderRpcError } from "../../index.ts";

export type EvmintPluginOptions = Pick<CreateNodeOptions, "fork" | "settings"> & {
  /** Name of the network; default: `evmint`. */
  readonly network?: string;
};

/** The parts of Hardhat's types in use, declared here so that Hardhat is not required. */
type Connection = {
  readonly networkName: string;
  readonly networkConfig: { readonly from?: string; readonly gas?: unknown; readonly gasPrice?: unknown };
};
type JsonRpcRequest = {
  readonly jsonrpc: "2.0";
  readonly id: number | string;
  readonly method: string;
  readonly params?: readonly unknown[] | object;
};
type Networks = { readonly networks?: Readonly<Record<string, object>> };
type Handlers<T> = () => Promise<{ default: () => Promise<T> }>;

type ConfigHooks = {
  extendUserConfig<C extends object>(config: C, next: (config: C) => Promise<C>): Promise<C>;
};
type NetworkHooks = {
  onRequest<X, N extends Connection, Q extends JsonRpcRequest, R>(
    context: X,
    connection: N,
    request: Q,
    next: (context: X, connection: N, request: Q) => Promise<R>,
  ): Promise<R>;
  closeConnection<X, N extends Connection>(
    context: X,
    connection: N,
    next: (context: X, connection: N) => Promise<void>,
  ): Promise<void>;
};

export type EvmintHardhatPlugin = {
  id: string;
  npmPackage: string;
  hookHandlers: { config: Handlers<ConfigHooks>; network: Handlers<NetworkHooks> };
};

/** Hardhat requires a URL but never requests it: this process answers every request. The name exists nowhere (RFC 2606). */
const NO_URL = "http://evmint.invalid";

/** EIP-1193's code for JSON-RPC's METHOD_NOT_FOUND, which tools look for in responses. */
const UNSUPPORTED_METHOD = 4200;
const METHOD_NOT_FOUND = -32601;

/** Methods for which Hardhat adds an account if the caller names none. */
const SENDING: ReadonlySet<string> = new Set(["eth_sendTransaction", "eth_call", "eth_estimateGas"]);

/** Hardhat 3's network `evmint`: each connection is a separate dev chain in this process, from its first request until it is closed. */
export function evmintPlugin(options: EvmintPluginOptions = {}): EvmintHardhatPlugin {
  const { network = "evmint", ...nodeOptions } = options;
  return {
    id: `evmint:${network}`,
    npmPackage: "evmint",
    hookHandlers: {
      config: async () => ({ default: async () => configHooks(network) }),
      network: async () => ({ default: async () => networkHooks(network, nodeOptions) }),
    },
  };
}

export default evmintPlugin();

function configHooks(network: string): ConfigHooks {
  return {
    async extendUserConfig(config, next) {
      const extended = await next(config);
      const { networks = {} } = extended as Networks;
      const given = networks[network] ?? {};
      if ("url" in given) {
        throw new Error(
          `network ${network} has a url: name it otherwise, or evmint by evmintPlugin({ network: NAME })`,
        );
      }
      const own = { accounts: "remote", ...given, type: "http", url: NO_URL };
      return { ...extended, networks: { ...networks, [network]: own } };
    },
  };
}

function networkHooks(network: string, options: Pick<CreateNodeOptions, "fork" | "settings">): NetworkHooks {
  const nodes = new WeakMap<Connection, Promise<EvmintNode>>();

  function nodeOf(connection: Connection): Promise<EvmintNode> {
    const known = nodes.get(connection);
    if (known !== undefined) return known;
    const node = createNode(options);
    nodes.set(connection, node);
    return node;
  }

  return {
    async onRequest(context, connection, request, next) {
      if (connection.networkName !== network) return next(context, connection, request);
      return (await answerOf(await nodeOf(connection), connection, request)) as Awaited<ReturnType<typeof next>>;
    },
    async closeConnection(context, connection, next) {
      const node = nodes.get(connection);
      nodes.delete(connection);
      await (await node)?.stop();
      await next(context, connection);
    },
  };
}

/** The response that a node would send Hardhat over HTTP. */
async function answerOf(node: EvmintNode, { networkConfig }: Connection, request: JsonRpcRequest): Promise<object> {
  const { jsonrpc, id, method } = request;
  const params = withDefaults(request, networkConfig, node);
  try {
    const result = await node.provider.request({ method, ...(params !== undefined && { params }) });
    return { jsonrpc, id, result };
  } catch (error) {
    if (!(error instanceof ProviderRpcError)) throw error;
    const { message, data } = error;
    const code = error.code === UNSUPPORTED_METHOD ? METHOD_NOT_FOUND : error.code;
    return { jsonrpc, id, error: { code, message, ...(data !== undefined && { data }) } };
  }
}

/** Adds the transaction fields that Hardhat's own handlers would add after plugins. */
function withDefaults(
  { method, params }: JsonRpcRequest,
  { from, gas, gasPrice }: Connection["networkConfig"],
  { accounts }: EvmintNode,
): JsonRpcRequest["params"] {
  if (!SENDING.has(method) || !Array.isArray(params)) return params;
  const [transaction, ...rest] = params as unknown[];
  if (typeof transaction !== "object" || transaction === null) return params;
  const sender = from ?? accounts[0]?.address;
  const fixed = method === "eth_sendTransaction" ? { ...quantity("gas", gas), ...quantity("gasPrice", gasPrice) } : {};
  const hasFees = "maxFeePerGas" in transaction || "maxPriorityFeePerGas" in transaction;
  if (hasFees) delete fixed.gasPrice;
  return [{ ...(sender !== undefined && { from: sender }), ...fixed, ...transaction }, ...rest];
}

function quantity<K extends string>(name: K, value: unknown): { [Name in K]?: string } {
  return typeof value === "bigint" ? ({ [name]: `0x${value.toString(16)}` } as { [Name in K]?: string }) : {};
}
