--[[ set-timers: sets the timers of a todo as they follow from its image, unless its stored record has changed.
  Atomic because: a sweep that stores a newer image sets the timers itself.
  KEYS 1 due · 2 records    ARGV 1 the todo's field in the records · 2 its packed record as it was read · 3 n · n × (timer, ms or "" for none)
  RETURN {"set" | "moved"}    Cost O(n log timers). Never calls TIME. ]]
if redis.call('HGET', KEYS[2], ARGV[1]) ~= ARGV[2] then return { 'moved' } end
for i = 4, 2 + 2 * tonumber(ARGV[3]), 2 do
  if ARGV[i + 1] == '' then redis.call('ZREM', KEYS[1], ARGV[i])
  else redis.call('ZADD', KEYS[1], ARGV[i + 1], ARGV[i]) end
end
return { 'set' }
