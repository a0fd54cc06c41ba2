/** `node:diagnostics_channel` of a page: nobody records there. */
export function channel(_name: string) {
  return { hasSubscribers: false, publish(_message: unknown): void {} };
}
