import { fileURLToPath } from "node:url";
import { constants, Script } from "node:vm";
import { TransportMissingError } from "../errors.ts";

/** The parts of libp2p that the transport uses. It takes a fifth of a second and 30 MB. @throws TransportMissingError */
export async function loadLibp2p() {
  defineWithResolvers();
  const load = importer();
  try {
    const [{ createLibp2p }, { tcp }, { noise }, { yamux }, { privateKeyFromRaw }, { multiaddr }] =
      await Promise.all([
        load("libp2p") as Promise<typeof import("libp2p")>,
        load("@libp2p/tcp") as Promise<typeof import("@libp2p/tcp")>,
        load("@chainsafe/libp2p-noise") as Promise<typeof import("@chainsafe/libp2p-noise")>,
        load("@libp2p/yamux") as Promise<typeof import("@libp2p/yamux")>,
        load("@libp2p/crypto/keys") as Promise<typeof import("@libp2p/crypto/keys")>,
        load("@multiformats/multiaddr") as Promise<typeof import("@multiformats/multiaddr")>,
      ]);
    return { createLibp2p, tcp, noise, yamux, privateKeyFromRaw, multiaddr };
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code !== "ERR_MODULE_NOT_FOUND") throw cause;
    const name = /package '([^']+)'/.exec(message)?.[1] ?? "libp2p";
    throw new TransportMissingError(
      `package ${name} is needed for shh.address and shh.peers and was left out: install with optional packages`,
      { name },
      { cause },
    );
  }
}

/**
 * What imports a package. The bundle is run from V8's code cache, and code from there cannot import: there a script that is compiled now
 * does it.
 */
function importer(): (name: string) => Promise<unknown> {
  if (import.meta.url.endsWith(".ts")) return (name) => import(name);
  const script = new Script("(name) => import(name)", {
    filename: fileURLToPath(import.meta.url),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  return script.runInThisContext() as (name: string) => Promise<unknown>;
}

/** ECMAScript 2024's `Promise.withResolvers`, which libp2p uses and Node 20 lacks. */
function defineWithResolvers(): void {
  const target = Promise as { withResolvers?: unknown };
  target.withResolvers ??= function withResolvers<T>(this: PromiseConstructor) {
    let resolve!: (value: T | PromiseLike<T>) => void;
    let reject!: (reason?: unknown) => void;
    const promise = new this<T>((onResolve, onReject) => {
      resolve = onResolve;
      reject = onReject;
    });
    return { promise, resolve, reject };
  };
}
