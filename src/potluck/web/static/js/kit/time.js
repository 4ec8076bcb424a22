// Times in the person's own time zone, in words and for fields.

import { locale } from "./words.js";

/** @param {Intl.DateTimeFormatOptions} options */
const format = (options) => new Intl.DateTimeFormat(locale(), options);

const hours = format({ hour: "2-digit", minute: "2-digit" });
const whole = format({ dateStyle: "long", timeStyle: "short" });
const weekday = format({ weekday: "long", day: "numeric", month: "long" });
const weekdayAndYear = format({ weekday: "long", day: "numeric", month: "long", year: "numeric" });
const shortWeekday = format({ weekday: "short" });
const shortDate = format({ day: "numeric", month: "short" });
const WEEK = 6 * 24 * 3600 * 1000;

/** 17:42 @param {Date | number | string} at */
export const clock = (at) => hours.format(new Date(at));

/** 13 December 2026 at 17:42 @param {Date} at */
export const moment = (at) => whole.format(at);

/** Sunday 13 December; Sunday, 13 December 2026 if it is not this year. @param {Date} at */
export const day = (at, now = new Date()) =>
  (at.getFullYear() === now.getFullYear() ? weekday : weekdayAndYear).format(at);

/** 17:42 if it is today, Mon within a week, otherwise 13 Dec. @param {Date} at */
export const short = (at, now = new Date()) =>
  (isSameDay(at, now) ? hours : Math.abs(Number(now) - Number(at)) < WEEK ? shortWeekday : shortDate).format(at);

/** @param {Date} one @param {Date} other */
export const isSameDay = (one, other) => one.toDateString() === other.toDateString();

/** As fields for a day and a time have it: 2026-12-13T17:42. @param {Date} at */
export const asLocal = (at) => new Date(Number(at) - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

/** The device's time zone; UTC may mean that it does not know. */
export const timeZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;
