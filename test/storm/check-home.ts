import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { runEvmintd } from "../support/evmintd.ts";
import { StormFailure } from "./failure.ts";
import type { HomeSettings } from "./home-settings.ts";

/**
 * Has `evmintd db check` read the whole store of a node that does not run, and, where no block was removed, executes all blocks again on a
 * home that nobody killed, by `evmintd export` and `evmintd import`.
 * @throws StormFailure
 */
export async function checkHome(home: string, { dev, flags, retainedBlocks }: HomeSettings): Promise<void> {
  const mode = dev ? ["--dev"] : [];
  const retention = Object.entries(flags).filter(([key]) => /^(chain|state)\./.test(key));
  const settings = retention.flatMap(([key, value]) => [`--${key}`, value]);
  const run = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await runEvmintd([...args, ...mode]);
    if (code !== 0) throw new StormFailure("STORE_FAULTY", `evmintd ${args.join(" ")}: ${stdout}${stderr}`);
    return JSON.parse(stdout) as { readonly head?: number };
  };
  const { head } = await run("db", "check", "--home", home, ...settings);
  if (retainedBlocks !== undefined || head === 0) return;
  const twin = `${home}-twin`;
  const file = join(home, "chain.rlp");
  cpSync(join(home, "config"), join(twin, "config"), { recursive: true });
  await run("export", file, "1", "--home", home);
  await run("import", file, "--home", twin);
  const again = await run("db", "check", "--home", twin);
  if (again.head !== head)
    throw new StormFailure("STORE_FAULTY", `${again.head} of ${head} blocks can be executed again`);
  rmSync(twin, { recursive: true });
  rmSync(file);
}
