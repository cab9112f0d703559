-- <delivery id>␟<log id>␟<when it was entered, ms>␟<kind>␟<event type>, as `packEntry` in group-entry.ts makes it.
local function idOf(entry) return entry and string.match(entry, '^[^\31]+') end
-- `<snapshot>.<serial>` of a delivery that a snapshot sent, and of its retries; nil of any other.
local function snapshotPartOf(id) return string.match(id, '%.(s%x+%.%d+%-%d+)') end
