import type { Logger } from "../../base/telemetry/logger.ts";
import { createNode, type EvmintNode } from "../../index.ts";
import type { ProviderMessage } from "../../node/adapters/provider-types.ts";
import { exportHome, type HomeFiles, importHome } from "./files/home-files.ts";
import { OpfsPool } from "./opfs/opfs-pool.ts";
import { fileTree, readFileSync, rmSync } from "./platform/fs.ts";
import { join } from "./platform/path.ts";
import type { HostOptions, NodeHost } from "./provider.ts";
import { loadQuickJs } from "./replacements/quickjs-file.ts";
import { UnsupportedInBrowserError } from "./unsupported.ts";
import { isDedicatedWorker } from "./web.ts";

/** Loads the engine of JavaScript tracers if `params` contain the source of one. */
async function loadScriptEngine(params: readonly unknown[]): Promise<void> {
  if (params.some(hasScript)) await loadQuickJs();
}

function hasScript(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, member]) =>
    // A built-in tracer is a name.
    name === "tracer" && typeof member === "string" ? /\W/.test(member) : hasScript(member),
  );
}

/** Folder of the homes in OPFS. */
const OPFS = "/opfs";

/** Starts a node in this thread. @throws LockedError, UnsupportedInBrowserError, and errors of `createNode` for Node */
export async function startLocalHost(
  { home: name, files, ...options }: HostOptions & { readonly log?: Logger },
  onMessage: (message: ProviderMessage) => void,
): Promise<NodeHost> {
  if (name === undefined) return hostOf(await createNode(options), onMessage);
  const { path, close } = await mountHome(name, files);
  try {
    const node = await createNode({ ...options, home: path });
    return hostOf(node, onMessage, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function hostOf(
  node: EvmintNode,
  onMessage: (message: ProviderMessage) => void,
  close = async () => {},
): Promise<NodeHost> {
  node.provider.on("message", onMessage);
  const home = await node.rpc.admin_datadir();
  // Folder in which methods look for files that callers name.
  const callerFile = (file: string) => join(home, "debug", file);
  return {
    accounts: node.accounts,
    async request(request) {
      if (Array.isArray(request.params)) await loadScriptEngine(request.params);
      return node.provider.request(request);
    },
    produceBlock: async () => node.produceBlock(),
    exportHome: async () => exportHome(home),
    async takeFile(file) {
      const content = readFileSync(callerFile(file));
      rmSync(callerFile(file));
      return content;
    },
    putFile: async (file, content) => importHome(join(home, "debug"), new Map([[file, content]])),
    removeFile: async (file) => rmSync(callerFile(file)),
    async stop() {
      await node.stop();
      await close();
    },
  };
}

/** Mounts the files of a stored chain in this thread. */
async function mountHome(name: string, files: HomeFiles | undefined) {
  if (!isDedicatedWorker()) throw new UnsupportedInBrowserError("a home outside of a worker");
  const path = join(OPFS, name);
  const pool = await OpfsPool.open(name, path);
  fileTree.makeDirectories(path, pool);
  for (const [file, content] of pool.stored()) fileTree.addStored(file, pool, content);
  const close = async () => {
    fileTree.forget(path);
    await pool.close();
  };
  try {
    if (files) importHome(path, files);
  } catch (error) {
    await close();
    throw error;
  }
  return { path, close };
}
