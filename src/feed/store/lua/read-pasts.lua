--[[ read-pasts: reads a stored record and the newest part of its history, or a further part.
  Atomic because: a past state is the present one with what came later undone, so both must be of one moment.
  KEYS 1 records · 2 history · 3 changed · 4 sweep
  ARGV 1 field · 2 pasts wanted at most · 3 only those observed after this time, ms · 4 the id to begin with ("" for the newest)
  RETURN since when the history is known, ms or "" · packed record or nil · id, past, … · id of the next one or ""
  Cost O(pasts wanted). Never calls TIME. ]]
--- @include "past"
local place = ARGV[4] == '' and redis.call('HGET', KEYS[3], ARGV[1]) or ARGV[4] ~= '' and placeOf(ARGV[4]) or NOWHERE
local pasts, next = pastsFrom(KEYS[2], place, tonumber(ARGV[2]), tonumber(ARGV[3]))
local since = redis.call('HGET', KEYS[4], 'historySince') or ''
return { since, redis.call('HGET', KEYS[1], ARGV[1]), pasts, next }
