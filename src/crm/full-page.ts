/** Noticing a list that seems to end after its first page because its cursor has another name. Pure. */

/** Records per page, as documented and as measured. */
const USUAL_PAGE = 50;

/** @param pageSizes records of whole pages of other lists */
export function isAsLongAsPages(records: number, pageSizes: readonly number[]): boolean {
  return records === USUAL_PAGE || (records > 0 && pageSizes.includes(records));
}
