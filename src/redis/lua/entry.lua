-- <delivery id>␟<log id>␟<when it was entered, ms>␟<kind>␟<event type>, as `packEntry` in group-entry.ts makes it.
local function idOf(entry) return entry and string.match(entry, '^[^\31]+') end
