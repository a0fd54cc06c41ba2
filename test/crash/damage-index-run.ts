/** `node --import tsx test/crash/damage-index-run.ts [COUNT] [SEED]`: starts COUNT homes (200) with a damaged index and prints what was seen. */
import { damageIndex } from "./damage-index.ts";

console.log(await damageIndex(Number(process.argv[2] ?? 200), Number(process.argv[3] ?? 1)));
