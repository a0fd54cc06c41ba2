import type { MaybePromise } from "../../base/threads/maybe-promise.ts";
import type { Identity } from "./message.ts";
import type { MessageCriteria } from "./message-filters.ts";
import type { Post, WhisperMessage } from "./whisper.ts";

/** The interface of `Whisper`. Plain data only. */
export interface ShhPort {
  newIdentity(): MaybePromise<Identity>;
  hasIdentity(input: { readonly identity: Identity }): MaybePromise<boolean>;
  /** @throws UnknownIdentityError, WhisperLimitError */
  post(post: Post): Promise<boolean>;
  /** @throws UnknownIdentityError, WhisperLimitError */
  newGroup(input: { readonly from: Identity | undefined; readonly members: readonly Uint8Array[] }): Promise<Identity>;
  /** @throws WhisperLimitError */
  addToGroup(input: { readonly group: Identity | undefined; readonly who: Uint8Array }): Promise<boolean>;
  /** @throws WhisperLimitError */
  newMessageFilter(criteria: MessageCriteria): MaybePromise<string>;
  uninstallMessageFilter(input: { readonly id: string }): MaybePromise<boolean>;
  messageFilterChanges(input: { readonly id: string }): MaybePromise<readonly WhisperMessage[]>;
  messages(input: { readonly id: string }): MaybePromise<readonly WhisperMessage[]>;
}
