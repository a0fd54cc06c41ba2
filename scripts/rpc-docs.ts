/** `npm run docs`: writes docs/rpc/ and docs/reference/ out of the sources. */
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./reference/page.ts";
import { writeReference } from "./reference/reference.ts";
import { rpcReference } from "./reference/rpc-reference.ts";

const pages = rpcReference();
for (const name of readdirSync(join(ROOT, "docs/rpc"))) {
  if (!pages.has(`docs/rpc/${name}`)) rmSync(join(ROOT, "docs/rpc", name));
}
for (const [path, text] of pages) writeFileSync(join(ROOT, path), text);
writeReference();
