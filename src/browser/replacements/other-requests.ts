import type * as Replaced from "../../observe/other-requests.ts";

/** Without listeners there are no requests. */
export const createOtherRequests: typeof Replaced.createOtherRequests = () => () => false;
