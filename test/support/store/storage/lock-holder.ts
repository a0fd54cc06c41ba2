/** Holds the lock file of its first argument until it is killed. */
import { lockFile } from "../../../../src/store/storage/lock.ts";

const [path, kind] = process.argv.slice(2);
lockFile(path!, { systemLock: kind === "system" });
process.stdout.write("locked\n");
setInterval(() => {}, 1_000_000);
