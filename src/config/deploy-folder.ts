/** `deploy/` of this package: two folders up from src/config and from dist/bundle alike. */
export const DEPLOY_FOLDER = new URL("../../deploy/", import.meta.url);
