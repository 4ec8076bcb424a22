// Which saved pages may be shown, to which person, and for how long: pure functions. The service worker has a copy of this file.
//
// A page is saved for the `person` that the server named with it: an id, or "" for a visitor without an account. The device
// knows who is there now (`who`): the same, or null between a sign-in or sign-out and the next page that says.

/** @typedef {{ address: string, person: string, at: number, until: number, title: string, heading: string, size: number }} SavedPage */
/** @typedef {{ who: string | null, latest: number, leaving: boolean }} Device */

/** @type {Device} */
export const UNKNOWN = { who: null, latest: 0, leaving: false };
export const MOST_PAGES = 60;
export const MOST_CHARACTERS = 8_000_000;
export const LARGEST_PAGE = 1_500_000;

/** Some pages know only the beginning of an id. @param {string} one @param {string} other */
export const isSamePerson = (one, other) => one.slice(0, 8) === other.slice(0, 8);

// Setting the clock back must not bring back what has expired.
/** @param {Device} device @param {number} now */
export const timeOn = (device, now) => Math.max(device.latest, now);

/** @param {SavedPage} page @param {Device} device @param {number} now */
export const isShown = (page, device, now) =>
  !device.leaving && device.who !== null && page.person === device.who && timeOn(device, now) < page.until;

/**
 * The addresses to delete once this person is known to be there: what belongs to other people. Without anyone signed in,
 * the last person's pages stay, unseen, in case their session has only expired.
 * @param {SavedPage[]} pages @param {string} person
 */
export const othersOf = (pages, person) =>
  person === "" ? [] : pages.filter((page) => page.person !== person).map(({ address }) => address);

/** The addresses to delete, the oldest first, so that the rest has room. @param {SavedPage[]} pages @param {number} time */
export function surplusOf(pages, time) {
  const expired = pages.filter(({ until }) => until <= time);
  const rest = pages.filter(({ until }) => until > time).sort((one, other) => other.at - one.at);
  let size = 0;
  const surplus = rest.filter((page, place) => {
    size += page.size;
    return place >= MOST_PAGES || size > MOST_CHARACTERS;
  });
  return [...expired, ...surplus].map(({ address }) => address);
}

/** Whether a page is about this thing: its own page, or one below. @param {string} address @param {string} thing */
export const isAbout = (address, thing) => address === thing || (thing !== "/" && address.startsWith(`${thing}/`));
