--[[ scan-pasts: reads some stored records of a list, each with the newest part of its history.
  Atomic because: as of read-pasts. HSCAN cursors are valid only while the server runs: after a restart the scan starts again.
  KEYS 1 records · 2 history · 3 changed · 4 sweep
  ARGV 1 cursor · 2 records wanted, roughly · 3 the server that gave the cursor ("" for none) · 4 pasts of each wanted at most
       5 only those observed after this time, ms
  RETURN since when the history is known, ms or "" · next cursor ("0" after the last) · server · field, packed record, {id, past, …}, id of the next one
         or "", …
  Cost O(records and pasts wanted). Never calls TIME. ]]
--- @include "past"
--- @include "server"
local server = serverId()
local cursor = (ARGV[3] == '' or ARGV[3] == server) and ARGV[1] or '0'
local scanned = redis.call('HSCAN', KEYS[1], cursor, 'COUNT', ARGV[2])
local found = {}
for i = 1, #scanned[2], 2 do
  local place = redis.call('HGET', KEYS[3], scanned[2][i]) or NOWHERE
  local pasts, next = pastsFrom(KEYS[2], place, tonumber(ARGV[4]), tonumber(ARGV[5]))
  found[#found + 1], found[#found + 2], found[#found + 3], found[#found + 4] = scanned[2][i], scanned[2][i + 1], pasts, next
end
return { redis.call('HGET', KEYS[4], 'historySince') or '', scanned[1], server, found }
