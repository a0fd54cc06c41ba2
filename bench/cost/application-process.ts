/** The program of `application-under-audit.ts`: an application with a chain in memory, which an engine reaches at the socket that is named. */
import { createAbciHandlers } from "../../src/consensus/cometbft/abci/handlers.ts";
import { listenAbci } from "../../src/consensus/cometbft/abci/server.ts";
import { openTestApplication } from "../../test/support/consensus/test-application.ts";

const { application } = openTestApplication();
await listenAbci(
  { path: process.argv[2]!, onEngineLost() {}, onFailure() {} },
  createAbciHandlers({ version: "audit", initialHeight: 1 }, application),
);
process.send!("ready");
