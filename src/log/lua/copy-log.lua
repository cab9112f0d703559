--[[ copy-log: copies the next entries of a log, or of a history. With the last ones, the copy takes the place of the stream, in which deleted entries are no longer.
  A script, because the entries need not leave Redis. In steps: all at once would block Redis for seconds.
  Atomic because: what is logged before the copy takes the place must be in it, and what was deleted or trimmed meanwhile must not.
  KEYS 1 log · 2 copy    ARGV 1 the first entry of this step, for XRANGE · 2 entries of a step · 3 ms after which an abandoned copy is gone
  RETURN {"copied", last entry} · {"replaced"} · {"moved"}: entries were deleted since the first step, the copy is dropped    Cost O(entries of a step). Never calls TIME. ]]
local entries = redis.call('XRANGE', KEYS[1], ARGV[1], '+', 'COUNT', ARGV[2])
for _, entry in ipairs(entries) do redis.call('XADD', KEYS[2], entry[1], unpack(entry[2])) end
redis.call('PEXPIRE', KEYS[2], ARGV[3])
if #entries == tonumber(ARGV[2]) then return { 'copied', entries[#entries][1] } end
local length = redis.call('XLEN', KEYS[1])
if redis.call('XLEN', KEYS[2]) ~= length then
  redis.call('UNLINK', KEYS[2])
  return { 'moved' }
end
-- Of a log without entries, the deleted ones are gone already.
if length == 0 then return { 'replaced' } end
local info = redis.call('XINFO', 'STREAM', KEYS[1])
for at = 1, #info, 2 do
  if info[at] == 'last-generated-id' then redis.call('XSETID', KEYS[2], info[at + 1]) end
end
redis.call('PERSIST', KEYS[2])
redis.call('RENAME', KEYS[2], KEYS[1])
return { 'replaced' }
