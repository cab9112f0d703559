-- The next sequence of a subject's notices, as text; not below the first sequence of the epoch.
local function countNotice(notices, subject, first)
  local sequence = redis.call('HINCRBY', notices, 'count ' .. subject, 1)
  if sequence < tonumber(first) then
    sequence = first
    redis.call('HSET', notices, 'count ' .. subject, sequence)
  end
  return string.format('%d', sequence)
end
