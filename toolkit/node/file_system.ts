/** What keys and what is kept beside them need of a file system. */
export interface FileSystem {
  /** The bytes of a file; fails as node:fs does, with a `code`. */
  readFile(path: string): AsyncIterable<Uint8Array>;
  /**
   * Writes a file that its owner alone may read (mode 0600, missing folders 0700). Fails with code
   * EEXIST when there is one already and `overwrite` is false; replaces it in one step otherwise.
   */
  writePrivateFile(path: string, text: string, overwrite: boolean): Promise<void>;
  /** The permission bits of a file; undefined where the platform has none, or there is no file. */
  fileMode(path: string): Promise<number | undefined>;
  /** Does short work while no other process does any under the same lock file. */
  withLock<T>(lockPath: string, work: () => Promise<T>): Promise<T>;
}
