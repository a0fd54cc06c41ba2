/** Whether the nightly run has started this test: then it tries every case, and with a change a part of them. */
export const IS_NIGHTLY = process.env["TEST_EVERY"] === "1";
