// Databases on this device.

import { openDB } from "../../vendor/idb/index.js";

/** @typedef {import("../../vendor/idb/index.js").IDBPDatabase<any>} Database */

/** Nothing can be stored on this device. */
export class NotOpened extends Error {}

/** Opens a database if it is there; null if it is not. @param {string} name */
export const openExisting = (name) =>
  openDB(name, undefined, {
    upgrade(_database, _before, _now, transaction) {
      transaction.done.catch(() => {});
      transaction.abort();
    },
  }).catch(() => null);

/**
 * A database that is opened when it is first needed. Returns a function that runs transactions: all of `work` is done, or
 * none of it. `work` may await only what it asks of the stores. A database that does not open `within` milliseconds is not
 * used at all.
 * @param {string} name
 * @param {(created: Database, before: number, transaction: any) => unknown} create makes it, or brings it up to date from
 *   the version that it had before
 * @param {number} [version]
 */
export function deviceStore(name, create, version = 1) {
  /** @type {Promise<Database> | null} */
  let database = null;

  const forget = () => {
    database = null;
  };

  /** @param {number | null} within */
  const open = (within) =>
    new Promise((resolve, reject) => {
      const opening = openDB(name, version, {
        upgrade: (created, before, _now, transaction) => void create(created, before, transaction),
        blocked() {
          forget();
          reject(new Error("blocked"));
        },
        // Another page deletes or upgrades the database.
        blocking() {
          forget();
          opening.then((opened) => opened.close());
        },
        // Some browsers close it by themselves while a page is in the background.
        terminated: forget,
      });
      let isLate = false;
      if (within !== null)
        setTimeout(() => {
          isLate = true;
          reject(new Error("it took too long"));
        }, within);
      // The page goes on without, so nothing must be done from here as well.
      opening.then((opened) => (isLate ? opened.close() : resolve(opened)), reject);
      opening.catch(forget);
    });

  /**
   * @template T
   * @param {"readonly" | "readwrite"} mode
   * @param {(stores: any) => Promise<T>} work
   * @param {number | null} [within]
   * @returns {Promise<T>}
   */
  return async function transact(mode, work, within = null) {
    database ??= open(within);
    const opened = await database.catch((error) => {
      throw new NotOpened("nothing can be stored here", { cause: error });
    });
    const names = [...opened.objectStoreNames];
    const transaction = opened.transaction(names, mode, { durability: "strict" });
    // Awaited only after `work`.
    transaction.done.catch(() => {});
    try {
      const result = await work(Object.fromEntries(names.map((store) => [store, transaction.objectStore(store)])));
      await transaction.done;
      return result;
    } catch (error) {
      if (!transaction.error) transaction.abort();
      throw error;
    }
  };
}
