--[[ group-enter: enters a batch of events from the log at the end of their ordering groups, and says whether each may run.
  An event at or before the highest position entered was entered before: a repeated batch changes nothing.
  Atomic because: an event that counts as entered but is in no group would be lost; one entered twice would block its record.
  KEYS 1 groups · 2 pending · 3 entered
  ARGV 1 workspace · 2 n · n × (group or "", position, job id), in the order of the log
  RETURN n × ("head" | "behind" | "left"), then n × ("fresh" | "known")    Cost O(n log pending). Never calls TIME. ]]
local SEP = '\31'
local AFTER_SEP = '\32'
local workspace = ARGV[1]
local n = tonumber(ARGV[2])
local furthest = redis.call('HGET', KEYS[3], workspace) or ''
local answer = {}

for i = 1, n do
  local at = 3 * i
  local group, position = ARGV[at], ARGV[at + 1]
  local waiting = workspace .. SEP .. position
  local fresh = position > furthest
  local member = group .. SEP .. position .. SEP .. ARGV[at + 2]
  if fresh then
    redis.call('ZADD', KEYS[2], 0, waiting)
    if group ~= '' then redis.call('ZADD', KEYS[1], 0, member) end
    furthest = position
  end
  if not fresh and not redis.call('ZSCORE', KEYS[2], waiting) then
    answer[i] = 'left'
  elseif group == '' then
    answer[i] = 'head'
  else
    local head = redis.call('ZRANGEBYLEX', KEYS[1], '[' .. group .. SEP, '(' .. group .. AFTER_SEP, 'LIMIT', 0, 1)[1]
    answer[i] = head == member and 'head' or 'behind'
  end
  answer[n + i] = fresh and 'fresh' or 'known'
end

if n > 0 then redis.call('HSET', KEYS[3], workspace, furthest) end
return answer
