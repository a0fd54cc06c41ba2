/** `node:os` of a simulated machine. */
export const tmpdir = () => "/tmp";
export const homedir = () => "/home";
export const hostname = () => "simulated";
export const platform = () => "linux";
export const arch = () => "x64";
export const totalmem = () => 8 * 2 ** 30;
export const freemem = () => 4 * 2 ** 30;
/** One processor: the node then runs everything in its main thread. */
export const availableParallelism = () => 1;
export const cpus = () => [{ model: "simulated", speed: 1_000, times: {} }];
export const networkInterfaces = () => ({});
export const loadavg = () => [0, 0, 0];
export const EOL = "\n";
export const constants = { signals: { SIGINT: 2, SIGTERM: 15, SIGKILL: 9 } };
export default { tmpdir, homedir, hostname, platform, availableParallelism, cpus };
