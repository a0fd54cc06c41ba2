// Loaded by `--import` before the node: counts the functions it calls, and answers its parent over the channel of the processes.
import { Session } from "node:inspector";

const session = new Session();
session.connect();
const post = (method, params) => {
  let answer;
  // In the same thread the answer is there when `post` returns.
  session.post(method, params, (error, result) => {
    if (error) throw error;
    answer = result;
  });
  return answer;
};
post("Profiler.enable");
post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

process.on("message", () => {
  const functions = post("Profiler.takePreciseCoverage").result.flatMap(({ url, functions: all }) =>
    url === import.meta.url
      ? []
      : all.map(({ functionName, ranges: [range] }) => [url, functionName, range.startOffset, range.count]),
  );
  process.send(functions.filter(([, , , count]) => count > 0));
});
process.channel.unref();
