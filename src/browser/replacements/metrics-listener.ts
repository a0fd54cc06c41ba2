import type * as Replaced from "../../observe/metrics-listener.ts";
import { UnsupportedInBrowserError } from "../web.ts";

export const listenMetrics: typeof Replaced.listenMetrics = async () => {
  throw new UnsupportedInBrowserError("a listener for metrics");
};
