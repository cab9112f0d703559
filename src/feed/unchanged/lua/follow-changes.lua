--[[ follow-changes: notes what a part of the log says of the records that are followed, and how far the log was read.
  Atomic because: another process follows the same log; of two that read the same part, one notes it, and none goes back behind the other.
  KEYS 1 unchanged · 2 … the sorted sets that are followed
  ARGV 1 log id up to which the log was read before ("" for none) · 2 the one up to which it was read now
       then n × (number of a key, "set" | "touch": only one that is followed | "gone", record, ms of its last change)
  RETURN {"noted" | "moved"}    Cost O(n log records). Never calls TIME. ]]
if (redis.call('HGET', KEYS[1], 'readTo') or '') ~= ARGV[1] then return { 'moved' } end
for i = 3, #ARGV, 4 do
  local key, how, record, ms = KEYS[tonumber(ARGV[i])], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  if how == 'gone' then redis.call('ZREM', key, record)
  elseif how == 'touch' then redis.call('ZADD', key, 'XX', ms, record)
  else redis.call('ZADD', key, ms, record) end
end
redis.call('HSET', KEYS[1], 'readTo', ARGV[2])
return { 'noted' }
