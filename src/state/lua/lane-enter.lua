--[[ lane-enter: puts the events of a batch at the end of their records' lanes, and says of each where it stands.
  Atomic because: an event counted as entered and in no lane would be lost, one entered twice would block its record.
  What lies at or before the furthest place entered has been entered before: a repeated batch changes nothing.
  KEYS 1 lanes · 2 pending · 3 entered
  ARGV 1 workspace · 2 n · n × (lane or "", place, event id), in the order of the log
  RETURN n × ("head" | "behind" | "left"), then n × ("fresh" | "known")    Cost O(n log pending). Never calls TIME. ]]
local SEP = '\31'
local AFTER_SEP = '\32'
local workspace = ARGV[1]
local n = tonumber(ARGV[2])
local furthest = redis.call('HGET', KEYS[3], workspace) or ''
local answer = {}

for i = 1, n do
  local at = 3 * i
  local lane, place = ARGV[at], ARGV[at + 1]
  local waiting = workspace .. SEP .. place
  local fresh = place > furthest
  local member = lane .. SEP .. place .. SEP .. ARGV[at + 2]
  if fresh then
    redis.call('ZADD', KEYS[2], 0, waiting)
    if lane ~= '' then redis.call('ZADD', KEYS[1], 0, member) end
    furthest = place
  end
  if not fresh and not redis.call('ZSCORE', KEYS[2], waiting) then
    answer[i] = 'left'
  elseif lane == '' then
    answer[i] = 'head'
  else
    local head = redis.call('ZRANGEBYLEX', KEYS[1], '[' .. lane .. SEP, '(' .. lane .. AFTER_SEP, 'LIMIT', 0, 1)[1]
    answer[i] = head == member and 'head' or 'behind'
  end
  answer[n + i] = fresh and 'fresh' or 'known'
end

if n > 0 then redis.call('HSET', KEYS[3], workspace, furthest) end
return answer
