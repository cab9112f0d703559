--[[ feed-step: a task of a feed moves on, if it still is what its worker took it for; the staged events are the next ones.
  Each record is seen once: the first moment at which its image was read counts, and only then is its event staged.
  Atomic because: of two processes at one task only one may go on, and a chunk half staged would lose or repeat records.
  KEYS 1 feeds · 2 staged · 3 seen
  ARGV 1 name · 2 task it was · 3 task it becomes ("" for none) · 4 "keep" | "drop" what is staged · 5 end of the log
       6 n · n × (record, event or "")
  RETURN "moved" | "stale"    Cost O(n). Never calls TIME. ]]
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 'stale' end

if ARGV[4] == 'drop' then redis.call('UNLINK', KEYS[2]) end
for i = 1, tonumber(ARGV[6]) do
  local record, event = ARGV[2 * i + 5], ARGV[2 * i + 6]
  if redis.call('HSETNX', KEYS[3], record, ARGV[5]) == 1 and event ~= '' then redis.call('RPUSH', KEYS[2], event) end
end
if ARGV[3] == '' then redis.call('HDEL', KEYS[1], ARGV[1]) else redis.call('HSET', KEYS[1], ARGV[1], ARGV[3]) end
return 'moved'
