// Loaded by `--import` before the node: answers its parent with what the process has used.
process.on("message", () => {
  const { voluntaryContextSwitches } = process.resourceUsage();
  process.send({ heap: process.memoryUsage().heapUsed, switches: voluntaryContextSwitches });
});
process.channel.unref();
